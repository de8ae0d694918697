import { performance } from "node:perf_hooks";
import type { JsonObject } from "../../../base/python/json/door.ts";
import type { Jar, TestReply, TestServer } from "../../../servers/hosting/door.ts";
import { functionCallItem, functionCallOutputItem, verifyBody } from "../../../servers/hosting/light-door.ts";

export interface AuditToolCall {
  readonly name: string;
  /** A string is sent as it is, even if it is not valid JSON. */
  readonly arguments: unknown;
}

/** The actions of a policy in one rollout: tool calls, then output items. */
export interface AuditAttempt {
  readonly policy: string;
  readonly calls?: readonly AuditToolCall[];
  readonly items: readonly unknown[];
}

export interface AuditOutcome {
  /** Status of the first request without a 2xx status, or of the last request. */
  readonly status: number;
  /** The route of that request. */
  readonly route: string;
  readonly reward: number | undefined;
  /** The reply without the fields of the request. */
  readonly result: JsonObject;
  /** Status and text of every tool call. */
  readonly toolReplies: readonly { name: string; status: number; text: string }[];
  /** Milliseconds of `/verify`: total, and on the event loop. */
  readonly verifyMs: number;
  readonly loopMs: number;
}

/** Maximum number of turns in a multi-turn environment. */
const MAX_TURNS = 8;

/** Runs one rollout of a policy in its own session. */
export async function runRollout(
  server: TestServer,
  row: JsonObject,
  attempt: AuditAttempt,
  kind: "standard" | "gymnasium",
): Promise<AuditOutcome> {
  const jar = server.newJar();
  return kind === "gymnasium" ? runEpisode(server, row, attempt, jar) : runTask(server, row, attempt, jar);
}

async function runTask(
  server: TestServer,
  row: JsonObject,
  attempt: AuditAttempt,
  jar: Jar,
): Promise<AuditOutcome> {
  const seeded = await server.seed(row, jar);
  if (seeded.status >= 300) return outcome("/seed_session", seeded, [], { verifyMs: 0, loopMs: 0 });
  const items: unknown[] = [];
  const toolReplies: AuditOutcome["toolReplies"][number][] = [];
  for (const [index, call] of (attempt.calls ?? []).entries()) {
    const reply = await callTool(server, call, jar);
    toolReplies.push({ name: call.name, status: reply.status, text: reply.text });
    const id = `call_${index}`;
    items.push(functionCallItem(call.name, call.arguments, id), functionCallOutputItem(reply.text, id));
  }
  items.push(...attempt.items);
  const { reply, ...times } = await timed(() => server.verify(verifyBody(row, ...items), jar));
  return outcome("/verify", reply, toolReplies, times);
}

/** As in an agent, arguments that are not JSON do not reach the tool. */
async function callTool(server: TestServer, { name, arguments: given }: AuditToolCall, jar: Jar) {
  let input = given;
  if (typeof given === "string") {
    try {
      input = JSON.parse(given);
    } catch {
      return { status: 400, text: JSON.stringify({ error: "Invalid tool call arguments" }) };
    }
  }
  return server.tool(encodeURIComponent(name), input, jar);
}

async function runEpisode(
  server: TestServer,
  row: JsonObject,
  attempt: AuditAttempt,
  jar: Jar,
): Promise<AuditOutcome> {
  const reset = await server.post("/reset", row, jar);
  if (reset.status >= 300) return outcome("/reset", reset, [], { verifyMs: 0, loopMs: 0 });
  let reward = 0;
  const infos: unknown[] = [];
  let slowest = { verifyMs: 0, loopMs: 0 };
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const { reply, ...times } = await timed(() =>
      server.post("/step", verifyBody(row, ...attempt.items), jar),
    );
    slowest = {
      verifyMs: Math.max(slowest.verifyMs, times.verifyMs),
      loopMs: Math.max(slowest.loopMs, times.loopMs),
    };
    if (reply.status >= 300) return outcome("/step", reply, [], slowest);
    const { reward: earned, terminated, truncated, observation, info } = reply.body as JsonObject;
    reward += Number(earned);
    infos.push({ observation, info });
    if (terminated === true || truncated === true) break;
  }
  const result = { reward, turns: infos };
  return { status: 200, route: "/step", reward, result, toolReplies: [], ...slowest };
}

function outcome(
  route: string,
  { status, body }: TestReply,
  toolReplies: AuditOutcome["toolReplies"],
  times: { verifyMs: number; loopMs: number },
): AuditOutcome {
  const { response: _response, responses_create_params: _params, ...result } = (body ?? {}) as JsonObject;
  const reward = typeof result["reward"] === "number" ? result["reward"] : undefined;
  return { status, route, reward, result, toolReplies, ...times };
}

/** Measures the time of a request, and how much of it blocks the event loop. */
async function timed(request: () => Promise<TestReply>) {
  const before = performance.eventLoopUtilization();
  const started = performance.now();
  const reply = await request();
  const verifyMs = performance.now() - started;
  const loopMs = Math.min(verifyMs, performance.eventLoopUtilization(before).active);
  return { reply, verifyMs, loopMs };
}
