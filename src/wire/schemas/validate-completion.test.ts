import { describe, expect, it } from "vitest";
import { convertChatCompletion } from "../convert/convert-chat-completion.ts";
import { convertChatRequest } from "../convert/convert-chat-request.ts";
import { parseCreateParams, parseResponse } from "./responses.ts";
import { parseChatParams } from "./validate-chat.ts";
import { parseChatCompletion } from "./validate-completion.ts";
import { ValidationError } from "./validation.ts";

const strict = { refuseLikeOriginal: true };
const message = { role: "assistant", content: "a" };
const completion = {
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, finish_reason: "stop", message }],
};
const withChoice = (fields: object) => ({
  ...completion,
  choices: [{ ...completion.choices[0], ...fields }],
});

describe("parseChatCompletion, refusing like the original", () => {
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
  ])("refuses %j, which is read otherwise", (answer) => {
    expect(() => parseChatCompletion(answer, [], strict)).toThrow(ValidationError);
    expect(parseChatCompletion(answer)).toBeDefined();
  });

  it("reads counts that are written differently, and copies totals below zero", () => {
    const usage = {
      ...{ prompt_tokens: "7", completion_tokens: true, total_tokens: -1 },
      prompt_tokens_details: { cached_tokens: true },
      completion_tokens_details: { reasoning_tokens: -1 },
      reasoning_output_tokens: true,
    };
    const answer = parseChatCompletion({ ...completion, usage }, [], strict);
    expect(convertChatCompletion(answer, parseCreateParams({ input: "q", model: "m" })).usage).toEqual({
      ...{ input_tokens: 7, output_tokens: 1, total_tokens: -1 },
      input_tokens_details: { cached_tokens: 1 },
      output_tokens_details: { reasoning_tokens: null },
    });
  });
});

describe("parseResponse, refusing like the original", () => {
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
  ])("refuses %j, which is read otherwise", (fields) => {
    expect(() => parseResponse({ ...response, ...fields }, [], strict)).toThrow(ValidationError);
    expect(parseResponse({ ...response, ...fields })).toBeDefined();
    const tools = [{ type: "function", name: "f", extra: 1 }];
    expect(parseResponse({ ...response, tools }, [], strict)).toEqual({ ...response, tools });
  });
});

describe("parseChatParams", () => {
  const user = { role: "user", content: "q" };

  it("takes nulls where nothing is asked for, and converts them", () => {
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

  it("keeps thoughts unless told to be like the original, which keeps null calls instead", () => {
    const turn = { role: "assistant", content: "a", reasoning: "r", tool_calls: null };
    expect(parseChatParams({ messages: [turn] }).messages[0]).toEqual({
      ...{ role: "assistant", content: "a", reasoning: "r" },
    });
    expect(parseChatParams({ messages: [turn] }, [], { likeOriginal: true }).messages[0]).toEqual({
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
  ])("refuses %j", (fields) => {
    expect(() => parseChatParams({ messages: [user], ...fields })).toThrow(ValidationError);
  });

  it("keeps settings the schema does not know, unlike the original; conversions report them", () => {
    const odd = { prompt_cache_key: "k", top_k: 5, functions: [{ name: "f" }], nothing: null };
    const chat = parseChatParams({ messages: [user], ...odd });
    expect(chat).toEqual({ messages: [user], ...odd });
    expect(parseChatParams({ messages: [user], ...odd }, [], { likeOriginal: true })).toEqual({
      messages: [user],
    });
    const lost: string[] = [];
    const params = convertChatRequest(chat, { onLoss: ({ field }) => lost.push(field) });
    expect(params).not.toHaveProperty("top_k");
    expect(lost).toEqual(["prompt_cache_key", "top_k", "functions"]);
  });
});
