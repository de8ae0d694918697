import { lstrip, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { compare } from "../kwargs.ts";
import { punktSentences } from "../text/index.ts";
import { countPieces, starParagraphs } from "./paragraphs.ts";

const WORD = /[\p{L}\p{N}_]+/gu;
const FIRST_WORD_END = /[.,?!'"]/;

/** The first word of a paragraph, without leading quotes and trailing punctuation. */
function firstWord(paragraph: string): string {
  const word = lstrip(lstrip(splitWords(paragraph)[0] ?? "", "'"), '"');
  const end = word.search(FIRST_WORD_END);
  return (end < 0 ? word : word.slice(0, end)).toLowerCase();
}

export const lengthInstructions: Instructions = {
  "length_constraints:number_sentences": {
    kwargs: ["num_sentences", "relation"],
    check: (text, kwargs) =>
      compare(punktSentences(text).length, kwargs.relation("relation"), kwargs.count("num_sentences")),
  },
  "length_constraints:number_paragraphs": {
    kwargs: ["num_paragraphs"],
    check: (text, kwargs) => countPieces(starParagraphs(text)) === kwargs.count("num_paragraphs"),
  },
  "length_constraints:number_words": {
    kwargs: ["num_words", "relation"],
    check: (text, kwargs) =>
      compare(text.match(WORD)?.length ?? 0, kwargs.relation("relation"), kwargs.count("num_words")),
  },
  "length_constraints:nth_paragraph_first_word": {
    kwargs: ["num_paragraphs", "nth_paragraph", "first_word"],
    check(text, kwargs) {
      const pieces = text.split("\n\n");
      const count = pieces.filter((piece) => strip(piece) !== "").length;
      const nth = kwargs.number("nth_paragraph");
      if (nth < 1 || nth > count) return false;
      const paragraph = pieces[nth - 1] ?? "";
      if (strip(paragraph) === "") return false;
      const expected = kwargs.text("first_word").toLowerCase();
      return count === kwargs.count("num_paragraphs") && firstWord(paragraph) === expected;
    },
  },
  "paragraphs:paragraphs": {
    kwargs: [],
    check: (text) => countPieces(starParagraphs(text)) === 2,
  },
  "paragraphs:paragraphs2": {
    kwargs: [],
    check: (text) => countPieces(text.split("\n\n")) === 2,
  },
};
