import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { punktSentences } from "./punkt.ts";
import { punktWords } from "./punkt-words.ts";

// Expected values were produced with NLTK 3.10 and its English model.
describe("punktSentences", () => {
  it.each<[string, string[]]>([
    ["", []],
    ["   ", []],
    ["One. Two! Three?", ["One.", "Two!", "Three?"]],
    [
      "Dr. Smith met Sen. Warren at 3 p.m. They talked.",
      ["Dr. Smith met Sen. Warren at 3 p.m.", "They talked."],
    ],
    ["J. Bach wrote it. It is no. 5 of the set.", ["J. Bach wrote it.", "It is no.", "5 of the set."]],
    ['"Stop!" he said. (He meant it.) Really.', ['"Stop!"', "he said.", "(He meant it.)", "Really."]],
    ["Wait... what? Yes.", ["Wait... what?", "Yes."]],
    ["Pi is 3.14. Version 2.0 is out", ["Pi is 3.14.", "Version 2.0 is out"]],
    ["He lives in the U.S. However, he works here.", ["He lives in the U.S.", "However, he works here."]],
    ["first line\nsecond line. third", ["first line\nsecond line.", "third"]],
  ])("%j", (text, sentences) => {
    expect(punktSentences(text)).toEqual(sentences);
  });

  it("splits words with their periods", () => {
    expect(punktWords('He said, "e.g. this" -- (and . . . so on)...')).toEqual([
      "He",
      "said",
      ",",
      '"',
      "e.g.",
      "this",
      '"',
      "--",
      "(",
      "and",
      ". . .",
      "so",
      "on",
      ")",
      "...",
    ]);
  });

  it("takes linear time", async () => {
    for (const unit of ["!", ". ", "a.", "? (", "- -", "...", "x", "\n", "a. \u2019", ". . . "]) {
      expect(await growthOf((size) => punktSentences(unit.repeat(size)), 2_000)).toBeLessThan(1.6);
    }
  });
});
