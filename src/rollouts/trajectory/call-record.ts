import type { ModelCallLine } from "../../capture/model-call-log.ts";
import { normalizeUsage } from "../../wire/convert/normalize-usage.ts";
import { type CallAnswer, readAnswer } from "./call-answer.ts";

type Usage = ReturnType<typeof normalizeUsage>;

/** A recorded call with what can be read off it. */
export interface CallRecord extends ModelCallLine, CallAnswer, Usage {
  /** Which line of the rollout's file it was, counted from 0. */
  call_index: number;
  latency_total_ms: number | null;
}

/** What is known about a recorded call. */
export function callRecord(line: ModelCallLine, index: number): CallRecord {
  const { request, response, request_raw, response_raw, ...head } = line;
  const payload = {
    request,
    response,
    ...(request_raw !== undefined && { request_raw }),
    ...(response_raw !== undefined && { response_raw }),
  };
  return {
    ...head,
    call_index: index,
    ...readAnswer(line.dialect, response, request),
    ...normalizeUsage(response?.["usage"]),
    latency_total_ms: typeof line.latency_ms === "number" ? line.latency_ms : null,
    ...payload,
  };
}

/** The record without the bodies, which are long and kept elsewhere. */
export function withoutPayload(record: CallRecord): Omit<CallRecord, "request" | "response"> {
  const { request: _request, response: _response, request_raw: _r, response_raw: _a, ...rest } = record;
  return rest;
}

/** Sums over the calls of a rollout; null where no call said anything. */
export interface CallMetrics {
  tokens_in: number | null;
  tokens_out: number | null;
  tokens_reasoning: number | null;
  tokens_total: number | null;
  cached_tokens: number | null;
  latency_total_ms: number | null;
  num_calls: number;
}

const SUMMED = [
  "tokens_in",
  "tokens_out",
  "tokens_reasoning",
  "tokens_total",
  "cached_tokens",
  "latency_total_ms",
] as const;

/** Adds up what the calls of a rollout took. */
export function callMetrics(calls: readonly CallRecord[]): CallMetrics {
  const metrics: CallMetrics = {
    tokens_in: null,
    tokens_out: null,
    tokens_reasoning: null,
    tokens_total: null,
    cached_tokens: null,
    latency_total_ms: null,
    num_calls: calls.length,
  };
  for (const call of calls) {
    for (const name of SUMMED) {
      const value = call[name];
      if (value !== null) metrics[name] = (metrics[name] ?? 0) + value;
    }
  }
  return metrics;
}
