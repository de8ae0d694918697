import type { Row } from "../../records/files/door.ts";
import type { Invocation, ToolCall } from "../../records/trajectory-parts.ts";
import type { CallRecord } from "./call-record.ts";

/**
 * The model calls that an agent reported, completed with the recorded ones, followed by calls that it did not report.
 */
export function mergeCalls(
  reported: readonly unknown[],
  calls: readonly CallRecord[],
  withBodies: boolean,
): unknown[] {
  const merged = [...reported];
  const positions = new Map<unknown, number>();
  for (const [index, call] of reported.entries()) {
    const id = (call as Row | null)?.["model_call_id"];
    if (typeof id === "string") positions.set(id, index);
  }
  for (const call of calls) {
    const known = trajectoryCall(call, withBodies);
    const position = positions.get(call.model_call_id);
    if (position === undefined) merged.push(known);
    else {
      merged[position] = completed(merged[position] as Row, known);
      positions.delete(call.model_call_id);
    }
  }
  return merged;
}

/** Recorded values take precedence over reported ones, unless they are null. */
function completed(told: Row, recorded: ReturnType<typeof trajectoryCall>): Row {
  return {
    ...told,
    ...withoutNulls(recorded),
    response_metadata: {
      ...(told["response_metadata"] as Row | null),
      ...withoutNulls(recorded.response_metadata),
    },
    token_stats: { ...(told["token_stats"] as Row | null), ...withoutNulls(recorded.token_stats) },
  };
}

const withoutNulls = (value: object): Row =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));

/** One model call in `ng_trajectory`. */
function trajectoryCall(call: CallRecord, withBodies: boolean) {
  const { model_call_id, started_at, completed_at } = call;
  return {
    model_call_id,
    started_at,
    completed_at,
    duration_ms: call.latency_total_ms,
    request: withBodies ? (call.request ?? call.request_raw ?? null) : null,
    response: withBodies ? (call.response ?? call.response_raw ?? null) : null,
    response_metadata: {
      response_id: call.response_id,
      model_ref: call.model_ref,
      model: call.model,
      dialect: call.dialect,
      status_code: call.status_code,
      response_status: call.response_status,
      finish_reason: call.finish_reason,
      error_category: call.error_category,
      latency_ttft_ms: call.latency_ttft_ms,
    },
    token_stats: {
      prompt_tokens: call.tokens_in,
      completion_tokens: call.tokens_out,
      reasoning_tokens: call.tokens_reasoning,
      total_tokens: call.tokens_total,
      cached_tokens: call.cached_tokens,
    },
  };
}

/**
 * The tool calls that an agent reported, completed with observed ones. Observed values take precedence, except
 * null and the status `unknown`. The output is the one that the model received.
 */
export function mergeTools(
  reported: readonly ToolCall[],
  observed: readonly ToolCall[],
  invocations: readonly Invocation[],
): ToolCall[] {
  const tools = [...reported];
  if (observed.length === 0) return tools;
  const outputs = shownOutputs(invocations);
  const positions = new Map<string, number>();
  for (const [index, tool] of tools.entries()) positions.set(keyOf(tool), index);
  for (const seen of observed) {
    const key = keyOf(seen);
    const position = seen.tool_call_id === null ? undefined : positions.get(key);
    const known = position === undefined ? undefined : tools[position];
    const merged = { ...(known ? overlay(known, seen) : seen) };
    if (outputs.has(key)) merged.output = outputs.get(key) ?? null;
    if (position !== undefined) tools[position] = merged;
    else {
      positions.set(key, tools.length);
      tools.push(merged);
    }
  }
  return tools;
}

function overlay(known: ToolCall, seen: ToolCall): ToolCall {
  const told = Object.entries(seen).filter(
    ([name, value]) => value !== null && !(name === "status" && value === "unknown"),
  );
  return { ...known, ...Object.fromEntries(told) };
}

/** The outputs of tool calls in the conversations. */
function shownOutputs(invocations: readonly Invocation[]): Map<string, ToolCall["output"]> {
  const outputs = new Map<string, ToolCall["output"]>();
  for (const { invocation_id, conversation } of invocations) {
    for (const item of conversation) {
      const { type, call_id, output } = (item ?? {}) as {
        type?: unknown;
        call_id?: unknown;
        output?: unknown;
      };
      if (type === "function_call_output" && typeof call_id === "string")
        outputs.set(keyOf({ invocation_id, tool_call_id: call_id }), output ?? null);
    }
  }
  return outputs;
}

const keyOf = ({ invocation_id, tool_call_id }: Pick<ToolCall, "invocation_id" | "tool_call_id">): string =>
  JSON.stringify([invocation_id, tool_call_id]);
