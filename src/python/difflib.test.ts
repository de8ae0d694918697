import { describe, expect, it } from "vitest";
import { getCloseMatches, similarityRatio } from "./difflib.ts";

describe("similarityRatio", () => {
  it("gives what Python's SequenceMatcher gives", () => {
    expect(similarityRatio("", "")).toBe(1);
    expect(similarityRatio("abcd", "bcde")).toBe(0.75);
    expect(similarityRatio("--config", "--cofnig")).toBe(0.875);
    expect(similarityRatio("tide", "diet")).toBe(0.25);
    expect(similarityRatio("diet", "tide")).toBe(0.5);
  });

  it("ignores frequent characters of a long second text", () => {
    expect(similarityRatio("ba".repeat(10), "ab".repeat(100))).toBe(0);
    expect(similarityRatio("ab".repeat(100), "ab".repeat(10))).toBeCloseTo(40 / 220, 12);
  });
});

describe("getCloseMatches", () => {
  const words = ["ape", "apple", "peach", "puppy"];

  it("sorts by similarity, then by text, both descending", () => {
    expect(getCloseMatches("appel", words)).toEqual(["apple", "ape"]);
    expect(getCloseMatches("ab", ["aa", "ac", "ad"], 3, 0.5)).toEqual(["ad", "ac", "aa"]);
  });

  it("keeps to the number and the cutoff", () => {
    expect(getCloseMatches("appel", words, 1)).toEqual(["apple"]);
    expect(getCloseMatches("xyz", words)).toEqual([]);
  });
});
