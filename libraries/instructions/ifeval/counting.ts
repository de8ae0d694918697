import type { Instructions } from "../instruction.ts";
import { splitSentences, wordTokens } from "../text/index.ts";
import { countPieces, starParagraphs } from "./paragraphs.ts";

const LOWERCASE_WORD = /(?<![\p{L}\p{N}_])[a-z]+(?![\p{L}\p{N}_])/gu;

export const countingInstructions: Instructions = {
  "count:lowercase_counting": {
    kwargs: ["N"],
    check: (text, kwargs) => (text.match(LOWERCASE_WORD)?.length ?? 0) <= kwargs.number("N"),
  },
  "count:counting_composition": {
    kwargs: ["n_sent", "n_words"],
    check(text, kwargs) {
      const sentenceCount = kwargs.count("n_sent");
      const wordCount = kwargs.count("n_words");
      const pieces = starParagraphs(text);
      // A blank piece at either end is not a paragraph, but must still have the sentences, as in the original.
      for (const piece of pieces) {
        const sentences = splitSentences(piece);
        if (sentences.length !== sentenceCount) return false;
        if (sentences.some((sentence) => wordTokens(sentence).length !== wordCount)) return false;
      }
      return countPieces(pieces) === 3;
    },
  },
  "count:count_unique": {
    kwargs: [],
    check(text) {
      const words = wordTokens(text);
      return new Set(words).size === words.length;
    },
  },
};
