import { describe, expect, it } from "vitest";
import { readChatParams } from "../../../scripts/conformance/original.ts";
import {
  parseChatCompletion as parseOriginalCompletion,
  parseResponse as parseOriginalResponse,
} from "../../../scripts/conformance/original-schemas.ts";
import { convertChatCompletion, convertChatRequest } from "../convert/convert-chat-to-responses.ts";
import { parseCreateParams, parseResponse } from "./responses.ts";
import { parseChatParams } from "./validate-chat.ts";
import { parseChatCompletion } from "./validate-completion.ts";
import { ValidationError } from "./validation.ts";

const message = { role: "assistant", content: "a" };
const completion = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, finish_reason: "stop", message }],
};
const withChoice = (fields: object) => ({
  ...completion,
  choices: [{ ...completion.choices[0], ...fields }],
});

describe("parseChatCompletion", () => {
  it.each([
    [{ ...completion, model: null }],
    [{ ...completion, object: null }],
    [withChoice({ index: undefined })],
    [withChoice({ finish_reason: null })],
    [withChoice({ finish_reason: "odd" })],
    [withChoice({ message: { ...message, role: undefined } })],
    [withChoice({ message: { ...message, prompt_token_ids: [1] } })],
    [withChoice({ message: { ...message, tool_calls: [{ function: { name: "f", arguments: "{}" } }] } })],
    [withChoice({ logprobs: { content: [{ token: "t" }] } })],
    [{ ...completion, usage: { prompt_tokens: 1, completion_tokens: 1 } }],
  ])("accepts %j, which the original rejects", (answer) => {
    expect(() => parseOriginalCompletion(answer)).toThrow(ValidationError);
    expect(parseChatCompletion(answer)).toBeDefined();
  });

  it("converts counts in other types, and copies negative totals", () => {
    const usage = {
      ...{ prompt_tokens: "7", completion_tokens: true, total_tokens: -1 },
      prompt_tokens_details: { cached_tokens: true },
      completion_tokens_details: { reasoning_tokens: -1 },
      reasoning_output_tokens: true,
    };
    const answer = parseOriginalCompletion({ ...completion, usage });
    expect(convertChatCompletion(answer, parseCreateParams({ input: "q", model: "m" })).usage).toEqual({
      ...{ input_tokens: 7, output_tokens: 1, total_tokens: -1 },
      input_tokens_details: { cached_tokens: 1 },
      output_tokens_details: { reasoning_tokens: null },
    });
  });
});

describe("parseResponse", () => {
  const response = {
    ...{ id: "r", object: "response", created_at: 1, model: "m", output: [] },
    ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [] },
  };

  it.each([
    [{ usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }],
    [{ incomplete_details: { reason: "odd" } }],
    [{ tool_choice: { type: "function", function: { name: "f" } } }],
    [{ tools: [{ type: "file_search" }] }],
    [{ service_tier: "odd" }],
    [{ text: { format: { type: "odd" } } }],
    [{ error: { code: "odd", message: "m" } }],
  ])("accepts %j, which the original rejects", (fields) => {
    expect(() => parseOriginalResponse({ ...response, ...fields })).toThrow(ValidationError);
    expect(parseResponse({ ...response, ...fields })).toBeDefined();
    const tools = [{ type: "function", name: "f", extra: 1 }];
    expect(parseOriginalResponse({ ...response, tools })).toEqual({ ...response, tools });
  });
});

describe("parseChatParams", () => {
  const user = { role: "user", content: "q" };

  it("accepts null for settings, and converts them", () => {
    const chat = parseChatParams({
      messages: [user],
      model: null,
      tools: null,
      tool_choice: null,
      stream: 0,
    });
    expect(chat).toEqual({ messages: [user], model: null, tools: null, tool_choice: null, stream: false });
    expect(convertChatRequest(chat)).toMatchObject({ tools: [], tool_choice: "auto" });
  });

  it("keeps reasoning and leaves out null calls, unlike the original", () => {
    const turn = { role: "assistant", content: "a", reasoning: "r", tool_calls: null };
    expect(parseChatParams({ messages: [turn] }).messages[0]).toEqual({
      ...{ role: "assistant", content: "a", reasoning: "r" },
    });
    expect(readChatParams({ messages: [turn] }).messages[0]).toEqual({
      ...{ role: "assistant", content: "a", tool_calls: null },
    });
  });

  it.each([
    [{ response_format: { type: "odd" } }],
    [{ logit_bias: { "5": "x" } }],
    [{ prediction: {} }],
    [{ audio: {} }],
    [{ messages: [{ role: "tool", tool_call_id: "t", content: [{ type: "input_text", text: "x" }] }] }],
    [{ messages: [{ role: "developer", content: [{ type: "input_text", text: "x" }] }] }],
    [{ messages: [{ role: "user", content: "x", prompt_token_ids: [1] }] }],
  ])("rejects %j", (fields) => {
    expect(() => parseChatParams({ messages: [user], ...fields })).toThrow(ValidationError);
  });

  it("keeps unknown settings, unlike the original, and conversions report them", () => {
    const odd = { prompt_cache_key: "k", top_k: 5, functions: [{ name: "f" }], nothing: null };
    const chat = parseChatParams({ messages: [user], ...odd });
    expect(chat).toEqual({ messages: [user], ...odd });
    expect(readChatParams({ messages: [user], ...odd })).toEqual({
      messages: [user],
    });
    const lost: string[] = [];
    const params = convertChatRequest(chat, { onLoss: ({ field }) => lost.push(field) });
    expect(params).not.toHaveProperty("top_k");
    expect(lost).toEqual(["prompt_cache_key", "top_k", "functions"]);
  });
});
