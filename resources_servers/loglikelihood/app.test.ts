import { expect, it } from "vitest";
import { likelihoodMetrics } from "./metrics.ts";
import { Row, scoreRow } from "./score.ts";

const scores = (...logprobs: number[]) =>
  logprobs.map((logprob) => ({ logprob, greedy: logprob > -3, unscored: 0 }));
const choice = (gold: number | number[], choices = ["ab", "abcdefgh"]) =>
  Row.parse({
    output_type: "multiple_choice",
    context: "Q",
    choices,
    continuations: choices.map((text) => ` ${text}`),
    gold,
  });

it("chooses by log probability, and by log probability for each character", () => {
  expect(scoreRow(choice(0), scores(-4, -6))).toMatchObject({ reward: 1, acc: 1, acc_norm: 0, chosen: 0 });
  expect(scoreRow(choice(1), scores(-4, -6))).toMatchObject({ reward: 0, acc: 0, acc_norm: 1 });
  expect(scoreRow(choice([0, 1]), scores(-4, -2))).toMatchObject({ reward: 1, exact_match: 1 });
  // The first of equal values, as numpy chooses.
  expect(scoreRow(choice(1), scores(-4, -4))).toMatchObject({ reward: 0 });
  // Bytes and characters differ.
  expect(scoreRow(choice(0, ["äääa", "abcdef"]), scores(-6, -6.3))).toMatchObject({
    acc_norm: 0,
    acc_bytes: 1,
  });
  expect(() => scoreRow(choice(0), scores(-4))).toThrow("1 scores for 2 choices");
});

it("computes the perplexities of all texts together", () => {
  const text = (given: string, logprob: number) => {
    const row = Row.parse({ output_type: "loglikelihood_rolling", text: given });
    return { ...row, ...scoreRow(row, scores(logprob)) };
  };
  const rows = [text("one two", -7), text("ä\tb c", -5)];
  expect(rows[0]).toMatchObject({ words: 2, bytes: 7, reward: -1 / Math.LN2 });
  expect(rows[1]).toMatchObject({ words: 3, bytes: 6 });
  const metrics = likelihoodMetrics.compute?.(rows.map((row) => [row])) ?? {};
  expect(metrics["word_perplexity"]).toBeCloseTo(Math.exp(12 / 5));
  expect(metrics["byte_perplexity"]).toBeCloseTo(Math.exp(12 / 13));
  expect(metrics["bits_per_byte"]).toBeCloseTo(12 / 13 / Math.LN2);
});
