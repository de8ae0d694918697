import { expect, it } from "vitest";
import { type Echoed, partsOf, scoreText } from "./score.ts";

const echoed: Echoed = {
  tokens: ["Bees", " make", " ho", "ney", " next"],
  token_logprobs: [null, -1, -2, -3, -9],
  top_logprobs: [null, { " make": -1 }, { " ho": -2 }, { ney: -3, nest: -0.1 }, null],
};

it("sums the tokens of the continuation, without what the engine generated", () => {
  const part = { context: "Bees make", continuation: " honey" };
  expect(scoreText(part, echoed)).toEqual({ logprob: -5, greedy: false, tokens: 2, unscored: 0 });
  expect(scoreText({ context: "Bees make ", continuation: "honey" }, echoed)).toMatchObject({ logprob: -5 });
  expect(scoreText({ context: "Bees", continuation: " make" }, echoed)).toEqual({
    logprob: -1,
    greedy: true,
    tokens: 1,
    unscored: 0,
  });
});

it("uses the positions of the engine, and counts characters as Python does", () => {
  const part = { context: "🐝", continuation: " buzz" };
  const answer = { tokens: ["?", " buzz", "."], token_logprobs: [null, -1, -7], text_offset: [0, 1, 6] };
  expect(scoreText(part, answer)).toMatchObject({ logprob: -1, tokens: 1 });
});

it("counts a first token that has no log probability, and fails where there is no other", () => {
  expect(scoreText({ context: "", continuation: "Bees make" }, echoed)).toMatchObject({
    logprob: -1,
    unscored: 1,
  });
  const one = { tokens: ["Bees"], token_logprobs: [null] };
  expect(() => scoreText({ context: "", continuation: "Bees" }, one)).toThrow("set the prefix");
});

it("finds the texts of each kind of row", () => {
  const choice = { output_type: "multiple_choice", continuations: [" a", " b"] };
  expect(partsOf({ ...choice, contexts: ["x", ""] }, "<s>")).toEqual([
    { context: "x", continuation: " a" },
    { context: "<s>", continuation: " b" },
  ]);
  expect(partsOf({ output_type: "loglikelihood_rolling", text: "t" }, "<s>")).toEqual([
    { context: "<s>", continuation: "t" },
  ]);
  expect(() => partsOf({ output_type: "generate_until" }, "")).toThrow("generate_until");
});
