import { describe, expect, it } from "vitest";
import { checkMessages } from "../../scripts/conformance/original.ts";
import type { Loss } from "./convert/conversion-loss.ts";
import {
  assistantMessageToItems,
  chatMessagesToItems,
  convertChatCompletion,
  convertChatRequest,
} from "./convert/convert-chat-to-responses.ts";
import { countingIds } from "./ids.ts";
import type { ChatAssistantMessage, ChatCompletion } from "./schemas/chat-types.ts";
import { parseChatParams } from "./schemas/validate-chat.ts";
import { parseChatCompletion } from "./schemas/validate-completion.ts";
import { ValidationError } from "./schemas/validation.ts";

const items = (message: Partial<ChatAssistantMessage>, options = {}) =>
  assistantMessageToItems(
    { role: "assistant", ...message },
    { newId: (prefix) => `${prefix}_x`, ...options },
  );
const call = (id: string) => ({
  id,
  type: "function" as const,
  function: { name: "f", arguments: "{broken" },
});
const text = (value: string) => ({
  id: "msg_x",
  content: [{ annotations: [], text: value, type: "output_text", logprobs: null }],
  role: "assistant",
  status: "completed",
  type: "message",
});

const completion = (message: Partial<ChatAssistantMessage>, finish_reason = "stop"): ChatCompletion => ({
  id: "c",
  created: 7,
  model: "backend",
  choices: [{ index: 0, finish_reason, message: { role: "assistant", ...message } }],
});

describe("assistantMessageToItems", () => {
  it("orders reasoning, message, calls", () => {
    expect(items({ content: "<think>a</think>x<think></think>", tool_calls: [call("1")] })).toEqual([
      {
        id: "rs_x",
        summary: [
          { text: "a", type: "summary_text" },
          { text: "", type: "summary_text" },
        ],
        type: "reasoning",
      },
      text("x"),
      { arguments: "{broken", call_id: "1", name: "f", type: "function_call", id: "1", status: "completed" },
    ]);
  });

  it("creates an empty message only without other items", () => {
    expect(items({ content: null })).toEqual([text("")]);
    expect(items({ content: "", tool_calls: [call("1")] })).toHaveLength(1);
    expect(items({ content: "<think>t</think>" })).toHaveLength(1);
    expect(items({ content: " " })).toEqual([text(" ")]);
  });

  it("keeps think tags if the parser is off", () => {
    expect(items({ content: "<think>a</think>b" }, { usesReasoningParser: false })).toEqual([
      text("<think>a</think>b"),
    ]);
  });

  it("adds token lists to the last item and rejects incomplete ones", () => {
    const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-0.5] };
    const [first, last] = items(
      { content: "x", tool_calls: [call("1")], ...tokens },
      { returnTokenIds: true },
    );
    expect(first).not.toHaveProperty("prompt_token_ids");
    expect(last).toMatchObject({ ...tokens, call_id: "1" });
    expect(() => items({ content: "x", prompt_token_ids: [1] }, { returnTokenIds: true })).toThrow(
      ValidationError,
    );
  });

  it("rejects custom tool calls and reports losses", () => {
    const losses: Loss[] = [];
    expect(() =>
      items({ tool_calls: [{ id: "1", type: "custom", custom: { name: "n", input: "" } }] }),
    ).toThrow("custom");
    items(
      { content: "x", refusal: "no", reasoning_content: "r" },
      { onLoss: (loss: Loss) => losses.push(loss) },
    );
    expect(losses.map(({ field }) => field)).toEqual(["message.reasoning_content"]);
  });
});

describe("chatMessagesToItems", () => {
  it("converts every role", () => {
    const converted = chatMessagesToItems(
      [
        { role: "system", content: "S" },
        {
          role: "user",
          content: [
            { type: "text", text: "U" },
            { type: "image_url", image_url: { url: "i" } },
          ],
        },
        { role: "assistant", content: "A" },
        { role: "tool", tool_call_id: "t", content: [{ type: "text", text: "o" }] },
      ],
      { newId: countingIds() },
    );
    expect(converted).toMatchObject([
      { role: "system", content: "S" },
      {
        content: [
          { type: "input_text", text: "U" },
          { type: "input_image", image_url: "i", detail: "auto" },
        ],
      },
      { role: "assistant" },
      { type: "function_call_output", output: [{ type: "input_text", text: "o" }], status: "completed" },
    ]);
  });

  it("converts chat parts, which the original rejects", () => {
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "U" }] }];
    expect(chatMessagesToItems(messages)).toMatchObject([{ content: [{ type: "input_text", text: "U" }] }]);
    expect(() => checkMessages(messages)).toThrow(ValidationError);
  });
});

describe("convertChatCompletion", () => {
  const request = { input: "q", model: "served", temperature: 0.5, metadata: { a: "b" } };

  it("repeats the settings of the request and has the time of the completion", () => {
    expect(convertChatCompletion(completion({ content: "x" }), request)).toMatchObject({
      model: "served",
      created_at: 7,
      temperature: 0.5,
      metadata: { a: "b" },
      parallel_tool_calls: true,
      tool_choice: "auto",
      status: "completed",
      incomplete_details: null,
      usage: null,
    });
  });

  it.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("is incomplete for '%s'", (finish, reason) => {
    const response = convertChatCompletion(completion({ content: "x" }, finish), request);
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason } });
    expect(response.output[0]).toMatchObject({ status: "completed" });
  });

  it("fails without a model or a choice", () => {
    expect(() => convertChatCompletion(completion({ content: "x" }), { input: "q" })).toThrow(
      ValidationError,
    );
    expect(() => convertChatCompletion({ ...completion({}), choices: [] }, request)).toThrow("no choices");
  });
});

describe("convertChatRequest", () => {
  it("converts max_completion_tokens and reports the other settings", () => {
    const losses: Loss[] = [];
    const chat = parseChatParams({
      messages: [{ role: "user", content: "U" }],
      max_tokens: 9,
      max_completion_tokens: 7,
      seed: 1,
      unknown: true,
    });
    expect(convertChatRequest(chat, { onLoss: (loss) => losses.push(loss) })).toEqual({
      input: [{ role: "user", content: "U", type: "message" }],
      max_output_tokens: 7,
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
    });
    expect(losses.map(({ field, essential = false }) => [field, essential])).toEqual([
      ["seed", false],
      ["unknown", true],
    ]);
  });

  it("converts the older max_tokens and ignores settings that have no effect", () => {
    const chat = parseChatParams({
      messages: [],
      ...{ max_tokens: 9, n: 1, stop: [], presence_penalty: 0, frequency_penalty: 0, logprobs: false },
      ...{ logit_bias: {}, modalities: ["text"] },
    });
    const losses: Loss[] = [];
    expect(convertChatRequest(chat, { onLoss: (loss) => losses.push(loss) }).max_output_tokens).toBe(9);
    expect(losses).toEqual([]);
  });

  it("accepts tools without strict and flattens a named choice", () => {
    const tool = { type: "function" as const, function: { name: "f", parameters: {}, strict: false } };
    const chat = {
      messages: [],
      tools: [tool],
      tool_choice: { type: "function" as const, function: { name: "f" } },
    };
    expect(convertChatRequest(chat)).toMatchObject({
      tools: [{ type: "function", name: "f", parameters: {}, strict: false }],
      tool_choice: { type: "function", name: "f" },
    });
    const loose = { type: "function" as const, function: { name: "f", parameters: {} } };
    expect(convertChatRequest({ messages: [], tools: [loose] }).tools).toEqual([
      { type: "function", name: "f", parameters: {} },
    ]);
  });
});

describe("parseChatCompletion", () => {
  it("accepts incomplete answers and normalizes tool calls", () => {
    const parsed = parseChatCompletion({
      id: "c",
      extra: 1,
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }],
          },
        },
      ],
    });
    expect(parsed).toMatchObject({
      extra: 1,
      choices: [{ message: { tool_calls: [{ function: { arguments: '{"a": 1}' } }] } }],
    });
    const [item] = assistantMessageToItems(parsed.choices[0]?.message ?? { role: "assistant" });
    expect(item).toMatchObject({
      type: "function_call",
      call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/),
    });
  });

  it("requires a first choice with a message", () => {
    expect(() => parseChatCompletion({ choices: [] })).toThrow("at least 1 item");
    expect(() => parseChatCompletion({ choices: [{}] })).toThrow("Field required");
    expect(() => parseChatCompletion(null)).toThrow(ValidationError);
  });
});

describe("parseChatParams", () => {
  it("keeps unknown keys, reasoning and token lists of assistant turns", () => {
    const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-1] };
    const message = { role: "assistant", content: "a", reasoning_content: "r", ...tokens };
    expect(parseChatParams({ messages: [{ ...message, odd: 1 }], odd: 1, stream: false })).toEqual({
      messages: [message],
      odd: 1,
      stream: false,
    });
  });

  it("rejects bad roles, parts and streams", () => {
    const refusals = (body: object) => {
      try {
        return parseChatParams(body) && [];
      } catch (error) {
        return (error as ValidationError).detail.map(({ loc }) => loc.join("."));
      }
    };
    expect(refusals({ messages: [{ role: "judge", content: "" }] })).toEqual(["messages.0.role"]);
    expect(refusals({ messages: [{ role: "user", content: [{ type: "odd" }] }] })).toEqual([
      "messages.0.content.0",
    ]);
    expect(refusals({ messages: [], stream: "yes" })).toEqual(["stream"]);
    expect(refusals({})).toEqual(["messages"]);
  });
});
