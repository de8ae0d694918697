import { expect, it } from "vitest";
import { addChrfCounts, chrf, chrfCounts } from "./chrf.ts";

// Computed with sacreBLEU 2.6.0.
it.each([
  ["the cat sat", "the cat sat", 100],
  ["Apri la finestra.", "Per favore, apri la finestra.", 55.81181031688573],
  ["ab", "abc", 63.636363636363626],
  ["x", "y", 0],
  ["", "abc", 0],
  ["abc", "", 0],
])("gives %j for %j %d", (hypothesis, reference, score) => {
  expect(chrf(chrfCounts(hypothesis, reference))).toBeCloseTo(score, 10);
});

it("adds up sentences", () => {
  const sum = addChrfCounts(chrfCounts("the cat", "the cat sat"), chrfCounts("on a mat", ""));
  expect(chrf(sum)).toBeCloseTo(55.77101053281037, 10);
});
