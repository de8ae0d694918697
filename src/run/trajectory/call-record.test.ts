import { describe, expect, it } from "vitest";
import type { ModelCallLine } from "../../servers/capture/model-call-log.ts";
import { callMetrics, callRecord, withoutPayload } from "./call-record.ts";

const line = (own: Partial<ModelCallLine>): ModelCallLine => ({
  model_call_id: "c1",
  dialect: "responses",
  model_ref: { type: "responses_api_models", name: "policy" },
  started_at: 1,
  completed_at: 2,
  latency_ms: 10,
  latency_ttft_ms: 9,
  status_code: 200,
  error_category: null,
  request: { model: "asked" },
  response: null,
  ...own,
});

describe("callRecord", () => {
  it("reads Responses", () => {
    const record = callRecord(
      line({
        response: {
          id: "resp_1",
          model: "m",
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          output: [
            { type: "reasoning", summary: [{ text: "first" }, { text: "then" }] },
            { type: "function_call", call_id: "f", name: "add", arguments: '{"a":1}' },
            { type: "function_call", id: "g", name: "add", arguments: "{broken" },
          ],
          usage: { input_tokens: 9, output_tokens: 3, output_tokens_details: { reasoning_tokens: 2 } },
        },
      }),
      4,
    );
    expect(record).toMatchObject({
      call_index: 4,
      response_id: "resp_1",
      model: "m",
      response_status: "incomplete",
      finish_reason: "max_output_tokens",
      reasoning_content: "first\nthen",
      tool_calls: [
        { call_id: "f", name: "add", arguments: { a: 1 } },
        { call_id: "g", name: "add", arguments: { _raw: "{broken" } },
      ],
      tokens_in: 9,
      tokens_out: 3,
      tokens_reasoning: 2,
      tokens_total: 12,
      latency_total_ms: 10,
    });
  });

  it("reads chat completions", () => {
    const record = callRecord(
      line({
        dialect: "chat",
        response: {
          id: "cc",
          choices: [
            {
              finish_reason: "tool_calls",
              message: {
                reasoning_content: "hm",
                tool_calls: [{ id: "t", function: { name: "f", arguments: "[1]" } }],
              },
            },
            { message: { reasoning_content: "", reasoning: "oh", tool_calls: [{ id: "u" }] } },
          ],
        },
      }),
      0,
    );
    expect(record).toMatchObject({
      model: "asked",
      response_status: null,
      finish_reason: "tool_calls",
      reasoning_content: "hm\noh",
      tool_calls: [
        { call_id: "t", name: "f", arguments: [1] },
        { call_id: "u", name: null, arguments: {} },
      ],
      tokens_total: null,
    });
  });

  it("reads Anthropic messages", () => {
    const record = callRecord(
      line({
        dialect: "messages",
        response: {
          id: "msg",
          model: "claude",
          stop_reason: "tool_use",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "tool_use", id: "t", name: "f", input: { a: 1 } },
          ],
          usage: { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 100 },
        },
      }),
      0,
    );
    expect(record).toMatchObject({
      finish_reason: "tool_use",
      reasoning_content: "hm",
      tool_calls: [{ call_id: "t", name: "f", arguments: { a: 1 } }],
      tokens_in: 105,
      cached_tokens: 100,
      cache_hit: true,
    });
  });

  it("accepts answers of any shape", () => {
    for (const response of [null, { output: 5, choices: "x", content: [null, 3], usage: [] }]) {
      for (const dialect of ["responses", "chat", "messages"] as const) {
        expect(callRecord(line({ dialect, response }), 0)).toMatchObject({
          tool_calls: [],
          response_id: null,
        });
      }
    }
  });

  it("drops only the bodies", () => {
    const record = callRecord(line({ response: { id: "r" }, request_raw: "x", response_raw: "y" }), 0);
    expect(Object.keys(record).slice(-4)).toEqual(["request", "response", "request_raw", "response_raw"]);
    expect(Object.keys(withoutPayload(record))).toEqual(Object.keys(record).slice(0, -4));
  });
});

it("sums known values, and returns null without any", () => {
  const usage = { input_tokens: 2, output_tokens: 1 };
  const calls = [line({ response: { usage } }), line({}), line({ response: { usage } })].map(callRecord);
  expect(callMetrics(calls)).toEqual({
    tokens_in: 4,
    tokens_out: 2,
    tokens_reasoning: null,
    tokens_total: 6,
    cached_tokens: null,
    latency_total_ms: 30,
    num_calls: 3,
  });
  expect(callMetrics([])).toMatchObject({ tokens_in: null, latency_total_ms: null, num_calls: 0 });
});
