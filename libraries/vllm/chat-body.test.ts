import { type ChatMessage, ConversionError, type OnLoss } from "nemo-gym/openai";
import { describe, expect, it } from "vitest";
import {
  bareReasoningCompletion,
  buildVllmChatBody,
  contextOverflowCompletion,
  endsInBareReasoning,
  insertAudio,
  isContextOverflow,
  takeAudio,
  tokenizeBody,
  type VllmSettings,
} from "./chat-body.ts";

const assistant = (content: string | null): ChatMessage => ({ role: "assistant", content });
const build = (messages: ChatMessage[], settings: Partial<VllmSettings> = {}, more = {}) =>
  buildVllmChatBody({ messages, ...more }, { model: "served", ...settings });

describe("buildVllmChatBody", () => {
  it("sends the first think block separately, or none, or leaves the text unchanged", () => {
    const history = [assistant("<think>a</think><think>b</think>x")];
    const losses: Parameters<OnLoss>[0][] = [];
    const body = buildVllmChatBody({ messages: history }, { model: "m" }, (loss) => losses.push(loss));
    expect(body.messages).toEqual([
      { role: "assistant", content: "x", reasoning_content: "a", reasoning: "a" },
    ]);
    expect(losses).toHaveLength(1);
    expect(build(history, { uses_interleaved_reasoning: false }).messages).toEqual([assistant("x")]);
    expect(build(history, { preserve_reasoning_in_assistant_content: true }).messages).toEqual(history);
    expect(build(history, { uses_reasoning_parser: false }).messages).toEqual(history);
    expect(build([assistant(null)]).messages).toEqual([assistant(null)]);
    expect(build([assistant("<think>a</think>")]).messages[0]).toMatchObject({ content: "", reasoning: "a" });
  });

  it("gives the request precedence over extra_body, and sampling_overrides precedence over all", () => {
    const body = build(
      [],
      {
        extra_body: { top_k: 1, min_p: 1, temperature: 1 },
        chat_template_kwargs: { a: 1, b: 1 },
        sampling_overrides: { top_p: 1, seed: 9 },
      },
      {
        model: "client",
        temperature: 0.5,
        top_p: 0.5,
        top_logprobs: null,
        metadata: { extra_body: '{"min_p": 2}', chat_template_kwargs: '{"b": 2}' },
      },
    );
    expect(body).toMatchObject({
      model: "served",
      top_k: 1,
      min_p: 2,
      temperature: 0.5,
      top_p: 1,
      seed: 9,
      chat_template_kwargs: { a: 1, b: 2 },
    });
    expect(body).not.toHaveProperty("top_logprobs");
  });

  it("refuses metadata that is not a JSON object, and several choices with token ids", () => {
    expect(() => build([], {}, { metadata: { extra_body: "{" } })).toThrow(ConversionError);
    expect(() => build([], {}, { metadata: { extra_body: "[]" } })).toThrow(ConversionError);
    expect(() => build([], { return_token_id_information: true }, { n: 2 })).toThrow("n must be 1");
  });

  it("requests token ids and renames developer messages if configured", () => {
    const body = build([{ role: "developer", content: "D" }], {
      return_token_id_information: true,
      request_prompt_and_generation_token_ids: true,
      replace_developer_role_with_system: true,
    });
    expect(body).toMatchObject({
      messages: [{ role: "system", content: "D" }],
      logprobs: true,
      top_logprobs: 0,
      return_tokens_as_token_ids: true,
      return_token_ids: true,
    });
  });

  it("tokenizes with the keys that affect the prompt", () => {
    const body = build([], { chat_template_kwargs: { a: 1 } }, { temperature: 1 });
    expect(tokenizeBody(body)).toEqual({ model: "served", messages: [], chat_template_kwargs: { a: 1 } });
  });

  it("recognizes a history that ends with reasoning", () => {
    expect(endsInBareReasoning([assistant("")])).toBe(true);
    expect(endsInBareReasoning([assistant("x")])).toBe(false);
    expect(endsInBareReasoning([{ role: "user", content: "" }])).toBe(false);
    expect(endsInBareReasoning([])).toBe(false);
  });
});

describe("overflow", () => {
  it("is a 400 about the context length", () => {
    expect(isContextOverflow(400, "maximum context length")).toBe(true);
    expect(isContextOverflow(400, "max_tokens must be at least 1")).toBe(true);
    expect(isContextOverflow(400, "bad tool")).toBe(false);
    expect(isContextOverflow(500, "context length")).toBe(false);
    expect(contextOverflowCompletion("m", 5).choices[0]).toMatchObject({ finish_reason: "length" });
    expect(bareReasoningCompletion("m", 5).choices[0]).toMatchObject({ finish_reason: "content_filter" });
  });
});

it("takes one kind of audio from the metadata", () => {
  expect(takeAudio(null)).toEqual({ sources: [], metadata: undefined });
  expect(takeAudio({ note: "n" })).toEqual({ sources: [], metadata: { note: "n" } });
  expect(takeAudio({ audio_data: "data:x" })).toEqual({
    sources: [{ kind: "data", url: "data:x" }],
    metadata: undefined,
  });
  expect(takeAudio({ audio_paths: '["a", "b"]', note: "n" })).toEqual({
    sources: [
      { kind: "path", path: "a" },
      { kind: "path", path: "b" },
    ],
    metadata: { note: "n" },
  });
  expect(() => takeAudio({ audio_path: "a", audio_data: "b" })).toThrow("audio_data and audio_path");
  expect(() => takeAudio({ audio_paths: "a" })).toThrow("list of paths");
});

it("inserts audio before the text of the last user message", () => {
  const part = { type: "audio_url", audio_url: { url: "u" } };
  const history = [
    { role: "user" as const, content: "first" },
    { role: "user" as const, content: "q" },
    { role: "assistant" as const, content: "a" },
  ];
  expect(insertAudio(history, ["u"])[1]).toEqual({
    role: "user",
    content: [part, { type: "text", text: "q" }],
  });
  expect(insertAudio([], ["u"])).toEqual([{ role: "user", content: [part] }]);
  expect(insertAudio(history, [])).toEqual(history);
});
