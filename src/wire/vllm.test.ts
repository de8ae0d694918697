import { describe, expect, it } from "vitest";
import { ConversionError, type Loss } from "./convert/conversion-loss.ts";
import {
  bareReasoningCompletion,
  buildVllmChatBody,
  contextOverflowCompletion,
  endsInBareReasoning,
  isContextOverflow,
  mergeReasoning,
  tokenizeBody,
  type VllmSettings,
} from "./convert/vllm.ts";
import type { ChatCompletion, ChatMessage } from "./schemas/chat-types.ts";
import { attachTokens, findTokens, TokenInformationError } from "./tokens/vllm-tokens.ts";

const assistant = (content: string | null): ChatMessage => ({ role: "assistant", content });
const build = (messages: ChatMessage[], settings: Partial<VllmSettings> = {}, more = {}) =>
  buildVllmChatBody({ messages, ...more }, { model: "served", ...settings });

describe("buildVllmChatBody", () => {
  it("sends the first think block separately, or none, or leaves the text unchanged", () => {
    const history = [assistant("<think>a</think><think>b</think>x")];
    const losses: Loss[] = [];
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

const answer = (message: object, choice: object = {}, more: object = {}) =>
  ({
    id: "c",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: "x", ...message },
        ...choice,
      },
    ],
    ...more,
  }) as ChatCompletion;

describe("mergeReasoning", () => {
  it("moves the reasoning of the engine into the content", () => {
    const merged = mergeReasoning(answer({ reasoning: "r", content: null }), {});
    expect(merged.choices[0]?.message).toEqual({ role: "assistant", content: "<think>r</think>" });
    const plain = answer({ reasoning_content: "" });
    expect(mergeReasoning(plain, { uses_reasoning_parser: false })).toBe(plain);
    expect(() => mergeReasoning(answer({ reasoning: "r" }), { uses_reasoning_parser: false })).toThrow(
      ConversionError,
    );
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

describe("token ids", () => {
  const logprobs = {
    content: [
      { token: "token_id:7", logprob: -0.5 },
      { token: "token_id:8", logprob: -1 },
    ],
  };
  const tokens = { prompt_token_ids: [1], generation_token_ids: [7, 8], generation_log_probs: [-0.5, -1] };

  it("are read from the message, the choice, or the log-probabilities", () => {
    expect(findTokens(answer(tokens))).toEqual({ kind: "complete", tokens });
    const beside = answer({}, { token_ids: [7, 8], logprobs }, { prompt_token_ids: [1] });
    expect(findTokens(beside)).toEqual({ kind: "complete", tokens });
    expect(
      findTokens(answer({ routed_experts: "e" }, { token_ids: [7, 8], logprobs }, { prompt_token_ids: [1] })),
    ).toMatchObject({
      tokens: { routed_experts: "e" },
    });
    expect(findTokens(answer({}, { logprobs })).kind).toBe("prompt-missing");
  });

  it("are added to the message, and their source fields are removed", () => {
    const completion = answer({}, { logprobs, token_ids: null }, { prompt_token_ids: null });
    const attached = attachTokens(completion, findTokens(completion), [1]);
    expect(attached.choices[0]).toEqual({
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "x", ...tokens },
    });
    expect(attached).not.toHaveProperty("prompt_token_ids");
    expect(() => attachTokens(completion, findTokens(completion))).toThrow("prompt's token ids are missing");
  });

  it.each([
    ["nothing", answer({})],
    ["plain tokens", answer({}, { logprobs: { content: [{ token: "the", logprob: -1 }] } })],
    ["half of the message's", answer({ prompt_token_ids: [1] })],
    ["only the prompt's", answer({}, { logprobs }, { prompt_token_ids: [1] })],
    ["only the choice's", answer({}, { logprobs, token_ids: [7, 8] })],
    ["ids that differ", answer({}, { logprobs, token_ids: [7, 9] }, { prompt_token_ids: [1] })],
    ["a message that differs", answer(tokens, { token_ids: [7] }, { prompt_token_ids: [1] })],
    ["lists of two lengths", answer({ ...tokens, generation_log_probs: [-1] })],
    ["a log-probability JSON cannot carry", answer({ ...tokens, generation_log_probs: [-1, -Infinity] })],
    ["two choices", { ...answer({}), choices: [...answer({}).choices, ...answer({}).choices] }],
  ])("are refused: %s", (_, completion) => {
    expect(() => findTokens(completion)).toThrow(TokenInformationError);
  });
});
