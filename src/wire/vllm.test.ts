import { describe, expect, it } from "vitest";
import { ConversionError } from "./convert/conversion-loss.ts";
import { mergeReasoning } from "./convert/merge-reasoning.ts";
import type { ChatCompletion } from "./schemas/chat-types.ts";
import { attachTokens, findTokens, TokenInformationError } from "./tokens/vllm-tokens.ts";

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
  ])("are rejected: %s", (_, completion) => {
    expect(() => findTokens(completion)).toThrow(TokenInformationError);
  });
});
