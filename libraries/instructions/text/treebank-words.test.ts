import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { treebankWords, wordTokens } from "./treebank-words.ts";

// Expected values were produced with NLTK 3.10.
describe("wordTokens", () => {
  it.each<[string, string]>([
    ["I can't stop.", "I ca n't stop ."],
    ["Cannot we? Gimme that, I'm gonna go.", "Can not we ? Gim me that , I 'm gon na go ."],
    ["She said \"yes\" and 'no'.", "She said `` yes '' and ' no ' ."],
    ["Costs $3.88 (about 3,36 euros): cheap!", "Costs $ 3.88 ( about 3,36 euros ) : cheap !"],
    ["“Curly” and ‘single’ — dashes--too", "“ Curly ” and ‘ single ’ — dashes -- too"],
    ["It's the dogs' bowl; they've eaten...", "It 's the dogs ' bowl ; they 've eaten ..."],
    ["'Tis more'n enough. D'ye see?", "' Tis more 'n enough . D 'ye see ?"],
    ["10% of 5*3 @home #tag", "10 % of 5 * 3 @ home # tag"],
  ])("%j", (text, tokens) => {
    expect(wordTokens(text).join(" ")).toBe(tokens);
  });

  it("takes linear time", async () => {
    for (const unit of [
      ".",
      ". ",
      "'",
      '"',
      "''",
      "` ",
      ", ",
      "can",
      "cannot ",
      "n't ",
      ".)",
      " ",
      "a",
      "\u00e9'",
    ]) {
      expect(await growthOf((size) => treebankWords(`x.${unit.repeat(size)}y`), 2_000)).toBeLessThan(1.6);
    }
  });
});
