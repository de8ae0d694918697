import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { splitSentences } from "./split-sentences.ts";

describe("splitSentences", () => {
  it.each<[string, string[]]>([
    ["", []],
    ["One. Two! Three?", ["One.", "Two!", "Three?"]],
    ["no stop", ["no stop"]],
    ["Mr. Smith of example.com paid 3.50. Fine.", ["Mr. Smith of example.com paid 3.50.", "Fine."]],
    ["Well... yes", ["Well...", "yes"]],
    ["He has a Ph.D. in art. Good", ["He has a Ph.D. in art.", "Good"]],
    ["The U.S. This is it.", ["The U.S.", "This is it."]],
    ["Acme Inc. He left. Acme Inc. left.", ["Acme Inc", "He left.", "Acme Inc. left."]],
    ['"Stop!" she said. "Go." Done', ['"Stop"!', "she said.", '"Go".', "Done"]],
    ["line\nbreak. next", ["line break.", "next"]],
  ])("%j", (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  it("takes linear time", async () => {
    for (const unit of [".", " a. ", "A.B. ", "Mr.", "Inc. ", "1.", '."', " "]) {
      expect(await growthOf((size) => splitSentences(unit.repeat(size)), 2_000)).toBeLessThan(1.6);
    }
  });
});
