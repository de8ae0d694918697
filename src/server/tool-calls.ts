import { type Cookies, mergeCookies } from "../client/cookies.ts";
import { inStage, type ServerClient } from "../client/server-client.ts";
import type { FunctionCall, FunctionCallOutput } from "../openai/responses.ts";
import type { RolloutScope } from "./define-agent.ts";
import type { TrajectoryRecorder } from "./trajectory.ts";

/** Routes of a resources server that are not tools: a model that calls one gets the answer of a tool that is not there. */
const NOT_TOOLS = new Set([
  "seed_session",
  "verify",
  "aggregate_metrics",
  "reset",
  "step",
  "close",
  "mcp",
  "reverify_mode",
]);
const NOT_FOUND = JSON.stringify({ detail: "Not Found" });

export interface ToolRun {
  client: ServerClient;
  resourcesServer: string;
  rollout: RolloutScope;
  signal: AbortSignal;
  timeoutMs?: number | null;
  recorder?: TrajectoryRecorder | undefined;
}

/** Runs one tool call the model made; whatever happens, the model gets an answer and the session goes on. */
export async function runToolCall(
  call: FunctionCall,
  cookies: Cookies,
  run: ToolRun,
): Promise<{ output: FunctionCallOutput; cookies: Cookies }> {
  const startedAt = Date.now();
  const answer = await answerOf(call, cookies, run);
  run.recorder?.toolCall({
    id: call.call_id,
    name: call.name,
    startedAt,
    status: answer.status,
    output: answer.text,
  });
  return {
    output: { type: "function_call_output", call_id: call.call_id, output: answer.text },
    cookies: mergeCookies(cookies, answer.cookies),
  };
}

async function answerOf(
  call: FunctionCall,
  cookies: Cookies,
  { client, resourcesServer, rollout, signal, timeoutMs }: ToolRun,
): Promise<{ status: number; text: string; cookies: Cookies }> {
  let input: unknown;
  try {
    input = JSON.parse(call.arguments);
  } catch (error) {
    const reason = `${(error as Error).name}('${(error as Error).message}')`;
    return {
      status: 400,
      text: JSON.stringify({ error: `Invalid tool call arguments: ${reason}` }),
      cookies: {},
    };
  }
  if (!isToolName(call.name)) return { status: 404, text: NOT_FOUND, cookies: {} };
  rollout.onStage("tool", call.name);
  const path = `${rollout.prefix}/${call.name}`;
  const options = { cookies, signal, ...(timeoutMs !== undefined && { timeoutMs }) };
  // The answer of a tool is the model's to read, whatever its status; only a tool nobody answers for is a failure.
  const reply = await inStage("tool", () => client.post(resourcesServer, path, input, options));
  return { status: reply.status, text: reply.text(), cookies: reply.cookies };
}

function isToolName(name: string): boolean {
  return name !== "" && !/[/?#\\]/.test(name) && name !== "." && name !== ".." && !NOT_TOOLS.has(name);
}
