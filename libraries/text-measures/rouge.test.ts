import { expect, it } from "vitest";
import { rouge } from "./rouge.ts";

// Computed with rouge-score 0.1.2, with its stemmer.
it.each([
  ["The cats sat.", "the cat was sitting", [4 / 7, 0.4, 4 / 7, 4 / 7]],
  ["line one\nline two", "line two\nline one", [1, 2 / 3, 0.5, 1]],
  ["", "a b", [0, 0, 0, 0]],
  ["日本語", "日本語", [0, 0, 0, 0]],
])("compares %j with %j", (text, reference, [rouge1 = 0, rouge2 = 0, rougeL = 0, rougeLsum = 0]) => {
  const scores = rouge(text, reference);
  expect(scores.rouge1).toBeCloseTo(rouge1, 12);
  expect(scores.rouge2).toBeCloseTo(rouge2, 12);
  expect(scores.rougeL).toBeCloseTo(rougeL, 12);
  expect(scores.rougeLsum).toBeCloseTo(rougeLsum, 12);
});

it("does not compare texts that are too long", () => {
  const long = "word ".repeat(10_000);
  expect(rouge(long, long).rouge1).toBe(0);
});
