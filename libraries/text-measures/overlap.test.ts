import { describe, expect, it } from "vitest";
import { longestCommonSubstring, ngramOverlap, substringOverlap } from "./overlap.ts";

it.each([
  ["a b c", "x a b y", 2, 0.5],
  ["a b a b", "a b", 2, 0.5],
  ["a", "a", 2, 0],
  ["", "a b", 2, 0],
])("finds of the n-grams of %j in %j (n = %d) the share %d", (text, other, order, share) => {
  expect(ngramOverlap(text, other, order)).toBe(share);
});

describe("longestCommonSubstring", () => {
  it.each([
    ["abcdef", "xxcdeyy", 3],
    ["abc", "abc", 3],
    ["abc", "xyz", 0],
    ["", "abc", 0],
    ["😀a😀", "b😀", 1],
  ])("of %j and %j has %d characters", (text, other, length) => {
    expect(longestCommonSubstring(text, other)).toBe(length);
  });

  it("agrees with a search of all parts", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const [text, other] = [letters(seed), letters(seed + 1000)];
      let longest = 0;
      for (let start = 0; start < text.length; start++)
        while (other.includes(text.slice(start, start + longest + 1)) && start + longest < text.length)
          longest++;
      expect(longestCommonSubstring(text, other)).toBe(longest);
    }
  });

  it("is compared with the length of the first text", () => {
    expect(substringOverlap("ab😀c", "xab😀")).toBe(0.75);
    expect(substringOverlap("", "abc")).toBe(0);
  });
});

function letters(seed: number): string {
  let state = seed;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state;
  };
  return Array.from({ length: 5 + (next() % 40) }, () => "ab"[next() % 2]).join("");
}
