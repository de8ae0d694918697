import type { JsonObject } from "../../../base/python/json/door.ts";
import type { TestReply, TestServer } from "../../../servers/hosting/door.ts";

export type Observation =
  | { readonly reward: unknown }
  /** A rejected request, and the route that rejected it. */
  | { readonly route: string; readonly status: number; readonly error: string };

interface OutputItem {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly call_id?: unknown;
}

/**
 * Replays a recorded rollout on a fresh server: seeds the session, repeats the tool calls that have an output in the
 * recording, and requests the reward.
 */
export async function replayCase(
  server: TestServer,
  request: JsonObject,
  kind: "standard" | "gymnasium",
): Promise<Observation> {
  const { response, ...row } = request;
  const output = outputItems(response);
  if (kind === "gymnasium") return replayEpisode(server, request, output);
  const seeded = await server.seed(row);
  if (seeded.status >= 300) return rejection("/seed_session", seeded);
  for (const { name, input } of executedCalls(output)) await server.tool(encodeURIComponent(name), input);
  const reply = await server.verify(request);
  if (reply.status >= 300) return rejection("/verify", reply);
  return { reward: (reply.body as JsonObject | null)?.["reward"] };
}

/** Each message of the recording is one turn. The reward is the sum over the turns, as in the agent. */
async function replayEpisode(
  server: TestServer,
  request: JsonObject,
  output: readonly OutputItem[],
): Promise<Observation> {
  const { response, ...row } = request;
  const reset = await server.post("/reset", row);
  if (reset.status >= 300) return rejection("/reset", reset);
  let total = 0;
  for (const turn of turnsOf(output)) {
    const body =
      response === undefined ? row : { ...row, response: { ...(response as object), output: turn } };
    const reply = await server.post("/step", body);
    if (reply.status >= 300) return rejection("/step", reply);
    const { reward, terminated, truncated } = reply.body as JsonObject;
    if (typeof reward !== "number") return { reward };
    total += reward;
    if (terminated === true || truncated === true) break;
  }
  return { reward: total };
}

function turnsOf(output: readonly OutputItem[]): OutputItem[][] {
  const turns: OutputItem[][] = [[]];
  for (const item of output) {
    turns.at(-1)?.push(item);
    if (item.type === "message") turns.push([]);
  }
  return turns.length > 1 && turns.at(-1)?.length === 0 ? turns.slice(0, -1) : turns;
}

/** The calls with an output. An agent did not run the others. */
function executedCalls(output: readonly OutputItem[]): { name: string; input: unknown }[] {
  const answered = new Set(
    output.filter(({ type }) => type === "function_call_output").map((item) => item.call_id),
  );
  return output.flatMap((item) => {
    if (item.type !== "function_call" || typeof item.name !== "string" || !answered.has(item.call_id))
      return [];
    const input = parseArguments(item.arguments);
    return input === undefined ? [] : [{ name: item.name, input }];
  });
}

/** As in an agent, arguments that are not JSON do not reach the tool. */
function parseArguments(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return undefined;
  }
}

function outputItems(response: unknown): OutputItem[] {
  const output = (response as { output?: unknown } | null | undefined)?.output;
  return Array.isArray(output)
    ? output.filter((item): item is OutputItem => typeof item === "object" && item !== null)
    : [];
}

function rejection(route: string, { status, body, text }: TestReply): Observation {
  return { route, status, error: errorText(body) ?? text };
}

/** The message of an error reply; a list of invalid fields as `response: Field required`. */
function errorText(body: unknown): string | undefined {
  const { detail, error } = (body ?? {}) as { detail?: unknown; error?: unknown };
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) {
    const problems = detail as { loc?: unknown[]; msg?: unknown }[];
    return problems
      .map(({ loc = [], msg }) => `${loc.filter((part) => part !== "body").join(".")}: ${String(msg)}`)
      .join("; ");
  }
  return typeof error === "string" ? error : undefined;
}
