import { describe, expect, it } from "vitest";
import { getCloseMatches, similarityRatio, unifiedDiff } from "./difflib.ts";

describe("similarityRatio", () => {
  it("returns the ratio of Python's SequenceMatcher", () => {
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

  it("respects the count and the cutoff", () => {
    expect(getCloseMatches("appel", words, 1)).toEqual(["apple"]);
    expect(getCloseMatches("xyz", words)).toEqual([]);
  });
});

describe("unified diffs", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

  it("are equal to Python's", () => {
    expect(unifiedDiff(["a", "b", "c"], ["a", "B", "c"])).toEqual([
      "@@ -1,3 +1,3 @@",
      " a",
      "-b",
      "+B",
      " c",
    ]);
    expect(unifiedDiff([], ["a"])).toEqual(["@@ -0,0 +1 @@", "+a"]);
    expect(unifiedDiff(["a"], [])).toEqual(["@@ -1 +0,0 @@", "-a"]);
    expect(unifiedDiff(["a"], ["a"])).toEqual([]);
  });

  it("have one hunk for close changes and several for distant ones", () => {
    const change = (...places: number[]) =>
      lines(20).map((line, index) => (places.includes(index) ? `${line}!` : line));
    const heads = (after: string[]) => unifiedDiff(lines(20), after).filter((line) => line.startsWith("@@"));
    expect(heads(change(5, 12))).toEqual(["@@ -3,14 +3,14 @@"]);
    expect(heads(change(5, 13))).toEqual(["@@ -3,7 +3,7 @@", "@@ -11,7 +11,7 @@"]);
    expect(heads(change(0, 19))).toEqual(["@@ -1,4 +1,4 @@", "@@ -17,4 +17,4 @@"]);
  });
});
