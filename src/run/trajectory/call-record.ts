import { existsSync } from "node:fs";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { type Row, readLineBatches } from "../../records/files/door.ts";
import type { Gap } from "../../records/trajectory-parts.ts";
import { type ModelCallLine, modelCallFiles } from "../../servers/capture/door.ts";
import { normalizeUsage } from "../../wire/convert/door.ts";
import type { Dialect } from "../../wire/stream/door.ts";

type Usage = ReturnType<typeof normalizeUsage>;

/** A recorded call with the values derived from it. */
export interface CallRecord extends ModelCallLine, CallAnswer, Usage {
  /** Zero-based line in the rollout's file. */
  call_index: number;
  latency_total_ms: number | null;
}

/** Creates the record of a call. */
export function callRecord(line: ModelCallLine, index: number): CallRecord {
  const { request, response, request_raw, response_raw, ...head } = line;
  return {
    ...head,
    call_index: index,
    ...readAnswer(line.dialect, response, request),
    ...normalizeUsage(response?.["usage"]),
    latency_total_ms: typeof line.latency_ms === "number" ? line.latency_ms : null,
    request,
    response,
    request_raw,
    response_raw,
  };
}

/** The record without the bodies, which are large and stored elsewhere. */
export function withoutPayload(record: CallRecord): Omit<CallRecord, "request" | "response"> {
  const { request: _request, response: _response, request_raw: _r, response_raw: _a, ...rest } = record;
  return rest;
}

/** Adds up the values of the calls of a rollout; null if no call has the value. */
export function callMetrics(calls: readonly CallRecord[]) {
  const sum = (read: (call: CallRecord) => number | null): number | null => {
    const known = calls.map(read).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  return {
    tokens_in: sum((call) => call.tokens_in),
    tokens_out: sum((call) => call.tokens_out),
    tokens_reasoning: sum((call) => call.tokens_reasoning),
    tokens_total: sum((call) => call.tokens_total),
    cached_tokens: sum((call) => call.cached_tokens),
    latency_total_ms: sum((call) => call.latency_total_ms),
    num_calls: calls.length,
  };
}

/** A tool call in a model's answer; arguments that are not a JSON object are kept under `_raw`. */
interface AnsweredToolCall {
  call_id: string | null;
  name: string | null;
  arguments: unknown;
}

/** The content of an answer, independent of its dialect; null for missing values. */
interface CallAnswer {
  response_id: string | null;
  model: string | null;
  response_status: string | null;
  finish_reason: string | null;
  tool_calls: AnsweredToolCall[];
  reasoning_content: string | null;
}

/** Reads an answer that was assembled from a stream or received whole. */
function readAnswer(dialect: Dialect, response: Row | null, request: Row | null): CallAnswer {
  const answer = response ?? {};
  const [choice] = objectsIn(answer["choices"]);
  const incomplete = objectOf(answer["incomplete_details"]);
  return {
    response_id: textOf(answer["id"]),
    model: textOf(answer["model"] || request?.["model"]),
    response_status: textOf(answer["status"]),
    finish_reason:
      textOf(answer["stop_reason"]) ?? textOf(choice?.["finish_reason"]) ?? textOf(incomplete["reason"]),
    ...contents[dialect](answer),
  };
}

type Contents = Pick<CallAnswer, "tool_calls" | "reasoning_content">;

const contents: Record<Dialect, (answer: Row) => Contents> = {
  responses(answer) {
    const items = objectsIn(answer["output"]);
    return {
      tool_calls: items
        .filter((item) => item["type"] === "function_call")
        .map((item) => toolCall(item["call_id"] || item["id"], item["name"], item["arguments"])),
      reasoning_content: joined(
        items
          .filter((item) => item["type"] === "reasoning")
          .flatMap((item) => [...objectsIn(item["summary"]), ...objectsIn(item["content"])])
          .map((part) => part["text"]),
      ),
    };
  },
  chat(answer) {
    const messages = objectsIn(answer["choices"]).map((choice) => objectOf(choice["message"]));
    return {
      tool_calls: messages
        .flatMap((message) => objectsIn(message["tool_calls"]))
        .map((call) => {
          const called = objectOf(call["function"]);
          return toolCall(call["id"], called["name"], called["arguments"]);
        }),
      reasoning_content: joined(
        messages.map((message) => message["reasoning_content"] || message["reasoning"]),
      ),
    };
  },
  messages(answer) {
    const blocks = objectsIn(answer["content"]);
    return {
      tool_calls: blocks
        .filter((block) => block["type"] === "tool_use")
        .map((block) => toolCall(block["id"], block["name"], block["input"])),
      reasoning_content: joined(
        blocks.filter((block) => block["type"] === "thinking").map((block) => block["thinking"]),
      ),
    };
  },
};

function toolCall(id: unknown, name: unknown, given: unknown): AnsweredToolCall {
  return { call_id: textOf(id), name: textOf(name), arguments: argumentsOf(given) };
}

function argumentsOf(given: unknown): unknown {
  if (typeof given !== "string") return given ?? {};
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return { _raw: given };
  }
}

const joined = (texts: readonly unknown[]): string | null =>
  texts.filter((text) => typeof text === "string" && text !== "").join("\n") || null;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const objectOf = (value: unknown): Row => (isObject(value) ? value : {});

const objectsIn = (value: unknown): Row[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** All calls of a rollout are in memory at the same time; a row could not hold more than this anyway. */
const MAX_CAPTURE_BYTES = 128 * 1024 * 1024;

const object = z.record(z.string(), z.unknown());
const Line = z.looseObject({
  model_call_id: z.string().min(1),
  dialect: z.enum(["responses", "chat", "messages"]),
  model_ref: object.nullish(),
  request: object.nullish(),
  response: object.nullish(),
});

/** Reads the calls that model servers recorded of a rollout. Missing data is a gap, never a failure. */
export async function readModelCalls(
  directory: string,
  rolloutId: string,
): Promise<{ calls: CallRecord[]; gaps: Gap[] }> {
  const files = modelCallFiles(directory, rolloutId);
  const calls: CallRecord[] = [];
  const gaps: Gap[] = [];
  let unreadable = 0;
  let index = 0;
  let bytes = 0;
  try {
    for await (const batch of existsSync(files.records) ? readLineBatches(files.records) : []) {
      for (const line of batch) {
        if (line.text.trim() === "") continue;
        bytes += line.byteLength;
        if (bytes > MAX_CAPTURE_BYTES) throw new Error(`more than ${MAX_CAPTURE_BYTES} bytes`);
        const call = parseLine(line.text);
        if (call) calls.push(callRecord(call, index));
        else unreadable++;
        index++;
      }
    }
  } catch (error) {
    gaps.push({ code: "model_call_capture_unreadable", detail: errorMessage(error) });
  }
  if (unreadable > 0)
    gaps.push({ code: "model_call_capture_records_unreadable", detail: `count=${unreadable}` });
  if (existsSync(files.incomplete)) gaps.push({ code: "model_call_capture_incomplete" });
  else if (index === 0 && gaps.length === 0) gaps.push({ code: "model_call_capture_no_records" });
  return { calls, gaps };
}

function parseLine(text: string): ModelCallLine | undefined {
  try {
    const { request, response, ...line } = Line.parse(JSON.parse(text));
    return { ...line, request: request ?? null, response: response ?? null } as unknown as ModelCallLine;
  } catch {
    // The caller counts it: an incomplete line of a killed writer.
    return undefined;
  }
}
