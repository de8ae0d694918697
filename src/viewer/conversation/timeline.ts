import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { numberOf } from "./verdict.ts";

export type SpanKind = "model" | "tool" | "wait" | "verify";

/** Something that took time in a rollout; times in seconds from its start. */
export interface Span {
  kind: SpanKind;
  name: string;
  from: number;
  to: number;
  /** Call id of a tool, response id of a model call: leads to the item of the conversation. */
  reference: string | undefined;
  /** For model calls: which one, from 0. */
  call: number | undefined;
  status: string | undefined;
}

/** A model call with what it used. */
export interface CallUsage {
  call: number;
  model: string;
  inputTokens: number | null;
  outputTokens: number | null;
  reasoningTokens: number | null;
  cachedTokens: number | null;
  cost: number | null;
  seconds: number | null;
  firstTokenSeconds: number | null;
  status: string;
  request: unknown;
  response: unknown;
}

/** Gaps shorter than this are not shown as waiting. */
const LEAST_WAIT_SECONDS = 0.005;

/** When model and tools worked, out of `ng_trajectory` and `ng_model_call_capture`; empty when nothing was recorded. */
export function timelineOf(row: JsonObject): Span[] {
  const spans: Span[] = [];
  for (const [call, record] of modelCalls(row).entries()) {
    const [from, to] = [numberOf(record["started_at"]), numberOf(record["completed_at"])];
    if (from === null || to === null) continue;
    const reference = typeof record["response_id"] === "string" ? record["response_id"] : undefined;
    spans.push({
      kind: "model",
      name: modelName(record),
      from,
      to,
      reference,
      call,
      status: statusOf(record),
    });
  }
  const trajectory = objectOf(row["ng_trajectory"]);
  for (const record of listOf(trajectory["tool_calls"])) {
    const from = numberOf(record["started_at"]);
    const duration = numberOf(record["duration_ms"]);
    const to =
      numberOf(record["completed_at"]) ??
      (from !== null && duration !== null ? from + duration / 1000 : null);
    if (from === null || to === null) continue;
    spans.push({
      kind: /verif/i.test(String(record["tool_name"])) ? "verify" : "tool",
      name: String(record["tool_name"] ?? "tool"),
      from,
      to,
      reference: typeof record["tool_call_id"] === "string" ? record["tool_call_id"] : undefined,
      call: undefined,
      status: typeof record["status"] === "string" ? record["status"] : undefined,
    });
  }
  spans.sort((a, b) => a.from - b.from || a.to - b.to);
  const start = spans[0]?.from ?? 0;
  return withWaiting(
    spans.map((span) => ({ ...span, from: span.from - start, to: Math.max(span.to, span.from) - start })),
  );
}

/** Time in which neither a model nor a tool worked. */
function withWaiting(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  let busyUntil = 0;
  for (const span of spans) {
    if (span.from - busyUntil > LEAST_WAIT_SECONDS && all.length > 0)
      all.push({
        kind: "wait",
        name: "waiting",
        from: busyUntil,
        to: span.from,
        reference: undefined,
        call: undefined,
        status: undefined,
      });
    all.push(span);
    busyUntil = Math.max(busyUntil, span.to);
  }
  return all;
}

/** The model calls of a rollout with tokens, cost and bodies, as far as they were recorded. */
export function callUsages(row: JsonObject): CallUsage[] {
  return modelCalls(row).map((record, call) => {
    const response = record["response"];
    const usage = objectOf(objectOf(response)["usage"]);
    const milliseconds = numberOf(record["latency_ms"]) ?? numberOf(record["duration_ms"]);
    const first = numberOf(record["latency_ttft_ms"]);
    return {
      call,
      model: modelName(record),
      inputTokens:
        numberOf(record["tokens_in"]) ?? numberOf(usage["input_tokens"]) ?? numberOf(usage["prompt_tokens"]),
      outputTokens:
        numberOf(record["tokens_out"]) ??
        numberOf(usage["output_tokens"]) ??
        numberOf(usage["completion_tokens"]),
      reasoningTokens: numberOf(record["tokens_reasoning"]),
      cachedTokens: numberOf(record["cached_tokens"]),
      cost: numberOf(usage["ng_cost"]),
      seconds: milliseconds === null ? null : milliseconds / 1000,
      firstTokenSeconds: first === null ? null : first / 1000,
      status: statusOf(record) ?? "",
      request: record["request"] ?? null,
      response: response ?? null,
    };
  });
}

/** Calls of the trajectory, completed by those of the capture: the one has the bodies, the other tokens and times. */
function modelCalls(row: JsonObject): JsonObject[] {
  const calls = listOf(objectOf(row["ng_trajectory"])["model_calls"]);
  const captured = listOf(objectOf(row["ng_model_call_capture"])["calls"]);
  if (calls.length === 0) return captured;
  const byId = new Map(captured.map((record) => [record["model_call_id"], record]));
  return calls.map((record) => ({ ...byId.get(record["model_call_id"]), ...record }));
}

function modelName(record: JsonObject): string {
  const reference = objectOf(record["model_ref"])["name"];
  const model = record["model"] ?? objectOf(record["response"])["model"] ?? reference;
  return typeof model === "string" ? model : "model";
}

function statusOf(record: JsonObject): string | undefined {
  if (typeof record["error_category"] === "string") return record["error_category"];
  const code = numberOf(record["status_code"]);
  if (code !== null && code !== 200) return String(code);
  return typeof record["response_status"] === "string" ? record["response_status"] : undefined;
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
