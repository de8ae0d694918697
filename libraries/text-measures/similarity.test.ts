import { expect, it } from "vitest";
import { boundedSimilarity } from "./similarity.ts";

it("is the ratio of matched characters, or undefined after too many steps", () => {
  expect(boundedSimilarity("abcd", "ab")).toBeCloseTo(2 / 3, 15);
  expect(boundedSimilarity("", "")).toBe(1);
  expect(boundedSimilarity("abcd", "ab", 3)).toBeUndefined();
});
