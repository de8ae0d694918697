import { SPACE_CLASS, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { splitSentences } from "../text/index.ts";

const NEITHER_WORD_NOR_SPACE = new RegExp(`[^\\p{L}\\p{N}_${SPACE_CLASS}]`, "gu");

function firstWord(text: string): string | undefined {
  return splitWords(text)[0]?.toLowerCase();
}

function lastWord(text: string): string | undefined {
  return splitWords(text).at(-1)?.replace(NEITHER_WORD_NOR_SPACE, "").toLowerCase();
}

export const firstAndLastWordInstructions: Instructions = {
  "first_word:first_word_sent": {
    kwargs: ["first_word"],
    check(text, kwargs) {
      const expected = kwargs.word("first_word").toLowerCase();
      return splitSentences(text).every((sentence) => firstWord(sentence) === expected);
    },
  },
  "first_word:first_word_answer": {
    kwargs: ["first_word"],
    check: (text, kwargs) => firstWord(text) === kwargs.word("first_word").toLowerCase(),
  },
  "last_word:last_word_sent": {
    kwargs: ["last_word"],
    check(text, kwargs) {
      const expected = kwargs.firstWord("last_word").toLowerCase();
      return splitSentences(text).every((sentence) => lastWord(sentence) === expected);
    },
  },
  "last_word:last_word_answer": {
    kwargs: ["last_word"],
    check: (text, kwargs) => lastWord(text) === kwargs.word("last_word").toLowerCase(),
  },
  "startend:end_checker": {
    kwargs: ["end_phrase"],
    check(text, kwargs) {
      const phrase = strip(kwargs.text("end_phrase")).toLowerCase();
      return strip(strip(text), '"').toLowerCase().endsWith(phrase);
    },
  },
  "startend:quotation": {
    kwargs: [],
    check(text) {
      const stripped = strip(text);
      return stripped.length > 1 && stripped.startsWith('"') && stripped.endsWith('"');
    },
  },
};
