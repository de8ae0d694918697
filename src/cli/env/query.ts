import { readFile } from "node:fs/promises";
import { GymError } from "../../base/errors.ts";
import { aliasedInstance } from "../../config/light-door.ts";
import { findPath } from "../../config/paths.ts";
import { headUrl, runningServers } from "../../run/head.ts";
import { callServer, RunClient } from "../../servers/calls/door.ts";
import type { InstanceRecord } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { hint } from "../hint.ts";

interface Item {
  type?: string;
  role?: string;
  name?: string;
  arguments?: string;
  output?: unknown;
  content?: unknown;
  summary?: { text?: string }[];
}

/** Runs `gym env query`: sends one question to a running agent. */
export async function queryAgent(
  context: CommandContext,
  text: string | undefined,
  { agent: wanted, row: rowFlag }: { agent: string | undefined; row: string | undefined },
): Promise<number> {
  const { signal, out } = context;
  if ((text === undefined) === (rowFlag === undefined)) {
    throw new UsageError("give either a question or --row FILE[:LINE]");
  }
  const config = await context.resolve();
  const servers = await runningServers(headUrl(config), signal);
  const agent = chooseAgent(servers, wanted);
  const client = new RunClient({
    addresses: new Map(servers.map((server) => [server.process_name, server.url])),
  });
  try {
    const row = rowFlag === undefined ? undefined : await readQueryRow(rowFlag, context.roots);
    const reply = await callServer(client, {
      server: agent,
      path: row ? "/run" : "/v1/responses",
      body: row ?? { input: [{ role: "user", content: text }] },
      stage: "run",
      signal,
    });
    const result = reply.json() as { output?: Item[]; response?: { output?: Item[] }; reward?: unknown };
    if (context.json) out(JSON.stringify(result, null, 2));
    else {
      for (const item of (row ? result.response?.output : result.output) ?? []) out(describe(item, context));
      if (row) out(rewardLine(result.reward));
    }
    return row && result.reward === null ? 1 : 0;
  } finally {
    await client.close();
  }
}

function rewardLine(reward: unknown): string {
  if (reward === null)
    return "reward: null (the verifier gave NaN or nothing: an evaluation counts this as failed)";
  return reward === undefined ? "no reward: the agent does not score" : `reward: ${reward}`;
}

function chooseAgent(servers: readonly InstanceRecord[], wanted: string | undefined): string {
  const agents = servers
    .filter((server) => server.server_type === "responses_api_agents")
    .map((server) => server.process_name);
  if (wanted !== undefined) {
    const known = agents.includes(wanted) ? wanted : aliasedInstance(wanted, new Set(agents));
    if (known !== undefined) return known;
    const advice = hint(wanted, agents) || ` Agents: ${agents.join(", ") || "none"}.`;
    throw new GymError("UNKNOWN_AGENT", `No agent '${wanted}' is running.${advice}`);
  }
  const [only] = agents;
  if (only !== undefined && agents.length === 1) return only;
  if (agents.length === 0)
    throw new GymError("UNKNOWN_AGENT", "No agent is running: the started config has none.");
  throw new GymError(
    "UNKNOWN_AGENT",
    `Several agents are running; choose one with --agent: ${agents.join(", ")}.`,
  );
}

/** Finds the file like `--input` of `gym eval run`: in the working directory, then in the package. */
export async function readQueryRow(spec: string, roots: readonly string[]): Promise<Record<string, unknown>> {
  const [, given = spec, line = "1"] = /^(.*?)(?::(\d+))?$/.exec(spec) ?? [];
  const file = findPath(given, roots);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new GymError("ROW_FILE", `${file} cannot be read: ${(error as Error).message}`);
  }
  const row = text.split("\n")[Number(line) - 1];
  if (row === undefined || row.trim() === "")
    throw new GymError("ROW_FILE", `${file} has no row in line ${line}.`);
  try {
    return JSON.parse(row) as Record<string, unknown>;
  } catch (error) {
    throw new GymError("ROW_FILE", `${file}:${line} is not JSON: ${(error as Error).message}`);
  }
}

function describe(item: Item, { terminal }: CommandContext): string {
  switch (item.type) {
    case "function_call":
      return terminal.cyan(`→ ${item.name}(${item.arguments})`);
    case "function_call_output":
      return terminal.dim(`← ${typeof item.output === "string" ? item.output : JSON.stringify(item.output)}`);
    case "reasoning":
      return terminal.dim(`(thinks) ${(item.summary ?? []).map((part) => part.text ?? "").join("\n")}`);
    default:
      return `${item.role ?? item.type}: ${textOf(item.content)}`;
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string; refusal?: string }) => part.text ?? part.refusal ?? "").join("");
}
