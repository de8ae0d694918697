import { describe, expect, it } from "vitest";
import {
  AmbiguousPatternError,
  type ChoiceOptions,
  choiceByPatterns,
  isSingleLetter,
  latinLetters,
  letterOfText,
  offeredLetters,
} from "./multiple-choice.ts";

const options: ChoiceOptions = [
  { a: "Red  light" },
  { B: "Blue light" },
  { C: null },
  { AB: "no letter" },
  { "1": "no letter" },
];

describe("offeredLetters", () => {
  it("returns single letters with a text, in upper case", () => {
    expect([...offeredLetters(options)]).toEqual(["A", "B"]);
    expect([...offeredLetters([{ A: "x", B: "y" }])]).toEqual(["A", "B"]);
    expect(offeredLetters(null).size).toBe(0);
  });
});

describe("letterOfText", () => {
  it("ignores case and spacing", () => {
    expect(letterOfText(" RED light\n", options, offeredLetters(options))).toBe("A");
    expect(letterOfText("red", options, offeredLetters(options))).toBeUndefined();
  });
});

describe("latinLetters", () => {
  it("reads Arabic, Bengali and full-width letters", () => {
    expect(latinLetters("ب")).toBe("B");
    expect(latinLetters("ড")).toBe("C");
    expect(latinLetters("x Ａ")).toBe("x  A");
  });
});

describe("isSingleLetter", () => {
  it("accepts letters of any script", () => {
    expect([
      isSingleLetter("B"),
      isSingleLetter("É"),
      isSingleLetter("𝐀"),
      isSingleLetter("1"),
      isSingleLetter("AB"),
    ]).toEqual([true, true, true, false, false]);
  });
});

describe("choiceByPatterns", () => {
  it("returns the last match of the first pattern that yields an answer", () => {
    expect(choiceByPatterns("Final: a ... final: b", "Final:\\s*([A-Z])", options)).toBe("B");
    expect(choiceByPatterns("Y:b", ["X:(\\w)", "Y:(\\w)"], options)).toBe("B");
    expect(choiceByPatterns("<ans>blue LIGHT</ans>", "<ans>(.*?)</ans>", options)).toBe("B");
    expect(choiceByPatterns("Option Z", "option (\\w)", options)).toBe("Z");
  });

  it("skips patterns that do not compile", () => {
    expect(choiceByPatterns("B", ["([", "(B)"], options)).toBe("B");
    expect(choiceByPatterns("B", "", options)).toBeUndefined();
  });

  it("rejects patterns with two groups once they match", () => {
    expect(choiceByPatterns("-", "(a)(b)", options)).toBeUndefined();
    expect(() => choiceByPatterns("ab", "(a)(b)", options)).toThrow(AmbiguousPatternError);
  });

  it("skips patterns that need too many steps", () => {
    expect(choiceByPatterns("a".repeat(3000), "(a+)+\\1+\\1+\\1+b", options)).toBeUndefined();
  });
});
