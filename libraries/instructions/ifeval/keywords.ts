import { compilePyRegex, splitWords } from "nemo-gym/python";
import type { Instruction, Instructions } from "../instruction.ts";
import { compare } from "../kwargs.ts";
import { splitSentences, wordTokens } from "../text/index.ts";

/** The number of occurrences of a keyword. Keywords are Python patterns, not plain text. */
export function countMatches(pattern: string, text: string): number {
  let count = 0;
  for (const _ of compilePyRegex(pattern, { ignoreCase: true }).finditer(text)) count++;
  return count;
}

function occurs(pattern: string, text: string): boolean {
  return compilePyRegex(pattern, { ignoreCase: true }).search(text) !== null;
}

const frequency: Instruction = {
  kwargs: ["keyword", "frequency", "relation"],
  check: (text, kwargs) =>
    compare(
      countMatches(kwargs.word("keyword"), text),
      kwargs.relation("relation"),
      kwargs.count("frequency"),
    ),
};

/** Whether a word is followed by a word that starts with the next letter: `a` then `b`, not `b` then `a`. */
function hasConsecutiveInitials(text: string): boolean {
  const initials = splitWords(text).map((word) =>
    String.fromCodePoint(word.codePointAt(0) ?? 0).toLowerCase(),
  );
  return initials.some((next, index) => {
    const previous = initials[index - 1];
    if (previous === undefined) return false;
    // A letter with two characters in lower case (İ) has no place in the alphabet.
    if (isSeveral(previous) || isSeveral(next)) return true;
    return (next.codePointAt(0) ?? 0) - (previous.codePointAt(0) ?? 0) === 1;
  });
}

function isSeveral(letter: string): boolean {
  return letter.length > ((letter.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}

function isPalindrome(word: string): boolean {
  const characters = [...word];
  for (let left = 0, right = characters.length - 1; left < right; left++, right--) {
    if (characters[left] !== characters[right]) return false;
  }
  return true;
}

export const keywordInstructions: Instructions = {
  "keywords:existence": {
    kwargs: ["keywords"],
    check: (text, kwargs) => kwargs.list("keywords").every((keyword) => occurs(keyword, text)),
  },
  "keywords:frequency": frequency,
  "keywords:word_count_different_numbers": frequency,
  "keywords:forbidden_words": {
    kwargs: ["forbidden_words"],
    check: (text, kwargs) => !kwargs.list("forbidden_words").some((word) => occurs(`\\b${word}\\b`, text)),
  },
  "keywords:word_once": {
    kwargs: ["keyword"],
    check: (text, kwargs) => countMatches(kwargs.word("keyword"), text) === 1,
  },
  "keywords:exclude_word_harder": {
    kwargs: ["keyword", "instruction"],
    check: (text, kwargs) => !text.includes(` ${kwargs.word("keyword")} `),
  },
  "keywords:no_adjacent_consecutive": {
    kwargs: [],
    check: (text) => !hasConsecutiveInitials(text),
  },
  "keywords:palindrome": {
    kwargs: [],
    check: (text) => splitWords(text).some(isPalindrome),
  },
  "keywords:keyword_specific_position": {
    kwargs: ["keyword", "n", "m"],
    check(text, kwargs) {
      const keyword = kwargs.firstWord("keyword");
      const sentences = splitSentences(text);
      const n = kwargs.count("n");
      const m = kwargs.count("m");
      if (sentences.length < n) return false;
      const words = wordTokens(sentences.at(n - 1) ?? "");
      return words.length >= m && words.at(m - 1) === keyword;
    },
  },
  "keywords:start_end": {
    kwargs: [],
    check(text) {
      const words = wordTokens(text);
      return words.length >= 2 && words[0]?.toLowerCase() === words.at(-1)?.toLowerCase();
    },
  },
  "count:count_increment_word": {
    kwargs: ["keyword1", "keyword2"],
    check: (text, kwargs) =>
      countMatches(kwargs.word("keyword1"), text) === 1 && countMatches(kwargs.word("keyword2"), text) === 2,
  },
};
