import type { JsonObject } from "../../base/python/json/door.ts";
import { listOf, numberOf, objectOf, textOf } from "./json-values.ts";

/**
 * The source of a span: a model, a tool, the environment that seeds the session, or its verifier. `waiting` is the time
 * until the limit of a model endpoint admitted a call, `other` is time without a recording.
 */
export type TimelineKind = "model" | "tool" | "seed" | "verifier" | "waiting" | "other";

/** A time span in a rollout; times in seconds from its start. */
export interface TimelineSpan {
  kind: TimelineKind;
  name: string;
  from: number;
  to: number;
  /** Call id of a tool, or response id of a model call: links to the item of the conversation. */
  reference: string | undefined;
  /** For model calls, and the waiting for them: the call index, from 0. */
  call: number | undefined;
  status: string | undefined;
}

/** A model call with its usage. */
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

/** Gaps shorter than this are not shown. */
const LEAST_GAP_SECONDS = 0.005;

/**
 * The time spans of a rollout from `ng_trajectory`, `ng_model_call_capture` and `_ng_timing`; empty without recordings.
 */
export function timelineOf(row: JsonObject): TimelineSpan[] {
  const spans = absoluteSpans(row);
  const start = spans[0]?.from ?? 0;
  return withGaps(
    spans.map((span) => ({ ...span, from: span.from - start, to: Math.max(span.to, span.from) - start })),
  );
}

/** The start of the timeline, in seconds since 1970. */
export function timelineStart(row: JsonObject): number {
  return absoluteSpans(row)[0]?.from ?? 0;
}

function absoluteSpans(row: JsonObject): TimelineSpan[] {
  const spans = [...modelSpans(row), ...toolSpans(row), ...stageSpans(row)];
  return spans.sort((a, b) => a.from - b.from || a.to - b.to);
}

function spanOf(
  kind: TimelineKind,
  name: string,
  [from, to]: readonly [number, number],
  more: Partial<TimelineSpan> = {},
): TimelineSpan {
  return { kind, name, from, to, reference: undefined, call: undefined, status: undefined, ...more };
}

function modelSpans(row: JsonObject): TimelineSpan[] {
  return modelCalls(row).flatMap((record, call) => {
    const times = timesOf(record);
    if (times === undefined) return [];
    const [from, to] = times;
    const reference = textOf(record["response_id"]);
    const usage = objectOf(objectOf(record["response"])["usage"]);
    // The call waits before it is sent. With retries it also waits in between, which the recordings do not distinguish.
    const sent = Math.min(to, from + (numberOf(usage["ng_waited_ms"]) ?? 0) / 1000);
    const name = modelName(record);
    const own = spanOf("model", name, [sent, to], { reference, call, status: statusOf(record) });
    return sent > from ? [spanOf("waiting", name, [from, sent], { reference, call }), own] : [own];
  });
}

function toolSpans(row: JsonObject): TimelineSpan[] {
  return listOf(objectOf(row["ng_trajectory"])["tool_calls"]).flatMap((record) => {
    const times = timesOf(record);
    const more = { reference: textOf(record["tool_call_id"]), status: textOf(record["status"]) };
    return times ? [spanOf("tool", textOf(record["tool_name"]) ?? "tool", times, more)] : [];
  });
}

/** When the environment seeded the session and verified the result, by the collector's clock. */
function stageSpans(row: JsonObject): TimelineSpan[] {
  const timing = objectOf(row["_ng_timing"]);
  const start = Date.parse(String(timing["started_at"])) / 1000;
  if (Number.isNaN(start)) return [];
  const stages = [
    ["seed", "seed", "seed session"],
    ["verify", "verifier", "verify"],
  ] as const;
  return stages.flatMap(([key, kind, name]) => {
    const { at, seconds } = objectOf(timing[key]);
    const [from, length] = [numberOf(at), numberOf(seconds)];
    if (from === null || length === null) return [];
    return [spanOf(kind, name, [start + from, start + from + length])];
  });
}

/** Start and end of a recorded call, in seconds since 1970. */
export function timesOf(record: JsonObject): [from: number, to: number] | undefined {
  const from = numberOf(record["started_at"]);
  const duration = numberOf(record["duration_ms"]);
  if (from === null) return undefined;
  const to = numberOf(record["completed_at"]) ?? (duration === null ? null : from + duration / 1000);
  return to === null ? undefined : [from, to];
}

/** Adds spans for time without a recording. */
function withGaps(spans: readonly TimelineSpan[]): TimelineSpan[] {
  const all: TimelineSpan[] = [];
  // Without observability the row has no recordings of the agent.
  const name = spans.some(({ kind }) => kind === "model" || kind === "tool") ? "other" : "agent";
  let busyUntil = 0;
  for (const span of spans) {
    if (span.from - busyUntil > LEAST_GAP_SECONDS && all.length > 0)
      all.push(spanOf("other", name, [busyUntil, span.from]));
    all.push(span);
    busyUntil = Math.max(busyUntil, span.to);
  }
  return all;
}

/** The recorded model calls of a rollout with tokens, cost and bodies. */
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

/** Calls of the trajectory merged with those of the capture: one has the bodies, the other tokens and times. */
export function modelCalls(row: JsonObject): JsonObject[] {
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
