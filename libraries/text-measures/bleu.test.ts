import { expect, it } from "vitest";
import { bleu, tokenize13a } from "./bleu.ts";

// Computed with sacreBLEU 2.6.0, without smoothing.
it.each([
  ["the cat sat on a mat", "the cat sat on the mat", 0.537284965911771],
  ["the cat sat on", "the cat sat on the mat", 0.6065306597126334],
  ["the cat sat", "the cat sat", 0],
  ["", "a b c d", 0],
])("of %j against %j is %d", (text, reference, score) => {
  expect(bleu(text, reference)).toBeCloseTo(score, 12);
});

it.each([
  ["Hello, world! It's 3.14.", "Hello , world ! It's 3.14 ."],
  ["a-\nb &amp; (c) 2-3", "ab & ( c ) 2 - 3"],
])("splits %j", (text, words) => {
  expect(tokenize13a(text).join(" ")).toBe(words);
});
