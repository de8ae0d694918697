import { expect, it } from "vitest";
import { editDistance, wordAccuracy } from "./word-errors.ts";

it.each([
  ["kitten", "sitting", 3],
  ["", "abc", 3],
  ["abc", "", 3],
  ["abc", "abc", 0],
])("takes from %j to %j %d edits", (left, right, edits) => {
  expect(editDistance([...left], [...right])).toBe(edits);
});

it.each([
  ["a b c", "a b c", 1],
  ["a b d", "a b c", 2 / 3],
  ["a x b", "a b", 0.5],
  ["a b c d", "a b", 0],
  ["x", "", 0],
  ["", "", 0],
])("scores %j against %j with %d", (text, reference, score) => {
  expect(wordAccuracy(text, reference)).toBeCloseTo(score, 15);
});
