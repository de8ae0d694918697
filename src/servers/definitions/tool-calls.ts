import { dumps, jsonDecodeErrorRepr, loadsPlain } from "../../base/python/json/door.ts";
import { type Span, traced } from "../../base/telemetry/light-door.ts";
import type { FunctionCall, FunctionCallOutput, ResponseCreateParams } from "../../wire/schemas/door.ts";
import { type Cookies, mergeCookies } from "../calls/cookies.ts";
import { inStage } from "../calls/errors.ts";
import type { ServerClient, ServerReply } from "../calls/server-client.ts";
import type { TrajectoryRecorder } from "../capture/trajectory-recorder.ts";
import type { RolloutScope } from "./define-agent.ts";

/** Routes of a resources server that are not tools. A model that calls one gets a 404, like for an unknown tool. */
const NOT_TOOLS = new Set([
  "seed_session",
  "close_session",
  "verify",
  "aggregate_metrics",
  "check_rows",
  "mcp",
  "reverify_mode",
]);
/**
 * Routes of environments that answer every turn. Other environments have tools with these names; their rows declare
 * them.
 */
const ROUTES_ALLOWED_IF_DECLARED = new Set(["reset", "step", "close"]);
const TIMEOUT_KEY = "tool_call_timeout_seconds";
const NOT_FOUND = JSON.stringify({ detail: "Not Found" });

export interface ToolRun {
  client: ServerClient;
  resourcesServer: string;
  rollout: RolloutScope;
  signal: AbortSignal;
  timeoutMs?: number | null;
  recorder?: TrajectoryRecorder;
  /** The tools that the model was offered. */
  tools?: ResponseCreateParams["tools"];
}

/** Runs one tool call of the model. An error of the tool becomes its output, and the session continues. */
export async function runToolCall(
  call: FunctionCall,
  cookies: Cookies,
  run: ToolRun,
): Promise<{ output: FunctionCallOutput; cookies: Cookies }> {
  const startedAt = Date.now();
  const answer = await traced(
    "agent",
    `execute_tool ${call.name}`,
    (span) => tracedAnswer(span, call, cookies, run),
    {
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.call_id,
      },
    },
  );
  run.recorder?.toolCall({
    id: call.call_id,
    name: call.name,
    startedAt,
    errorType: answer.errorType,
    output: answer.text,
  });
  return {
    output: { type: "function_call_output", call_id: call.call_id, output: answer.text },
    cookies: mergeCookies(cookies, answer.cookies),
  };
}

interface ToolAnswer {
  text: string;
  cookies: Cookies;
  /** Null on success. */
  errorType: string | null;
}

async function tracedAnswer(
  span: Span | undefined,
  call: FunctionCall,
  cookies: Cookies,
  run: ToolRun,
): Promise<ToolAnswer> {
  const answer = await answerOf(call, cookies, run);
  if (answer.errorType !== null) span?.fail(answer.errorType);
  span?.setContent(() => ({
    "gen_ai.tool.call.arguments": call.arguments,
    "gen_ai.tool.call.result": answer.text,
  }));
  return answer;
}

async function answerOf(
  call: FunctionCall,
  cookies: Cookies,
  { client, resourcesServer, rollout, signal, timeoutMs, tools }: ToolRun,
): Promise<ToolAnswer> {
  const read = readArguments(call.arguments);
  if ("refusal" in read) return { text: read.refusal, cookies: {}, errorType: "JSONDecodeError" };
  if (!isToolName(call.name, tools)) return { text: NOT_FOUND, cookies: {}, errorType: "http_404" };
  rollout.onStage("tool", call.name);
  const path = `${rollout.prefix}/${call.name}`;
  const options = { cookies, signal, timeoutMs, timeoutKey: TIMEOUT_KEY };
  // The model receives the reply of a tool regardless of its status. Only an unreachable tool server fails the rollout.
  let reply: ServerReply;
  try {
    reply = await client.post(resourcesServer, path, read.input, options);
  } catch (error) {
    throw inStage("tool", error);
  }
  return {
    text: reply.text(),
    cookies: reply.cookies,
    errorType: reply.ok ? null : `http_${reply.status}`,
  };
}

/**
 * Models were trained with Python's error messages, so invalid arguments produce Python's text, and only where Python
 * rejects them.
 */
function readArguments(text: string): { input: unknown } | { refusal: string } {
  try {
    return { input: JSON.parse(text) };
  } catch {
    const error = jsonDecodeErrorRepr(text);
    if (error !== undefined) return { refusal: dumps({ error: `Invalid tool call arguments: ${error}` }) };
    return { input: loadsPlain(text, { allowNonFinite: true }) };
  }
}

/** Whether a name can be the route of a tool. A lone surrogate cannot be sent. */
function isToolName(name: string, offered: ToolRun["tools"]): boolean {
  if (name === "" || /[/?#\\]|\p{Cs}/u.test(name) || name === "." || name === "..") return false;
  if (ROUTES_ALLOWED_IF_DECLARED.has(name))
    return offered?.some((tool) => tool.type === "function" && tool.name === name) ?? false;
  return !NOT_TOOLS.has(name);
}

/** An entry of `info.tool_outputs`: the reply of a gymnasium-style environment's `/step` to a tool call. */
export function toolOutput(
  call: Pick<FunctionCall, "call_id">,
  result: unknown,
): { call_id: string; output: string } {
  return { call_id: call.call_id, output: dumps(result) };
}
