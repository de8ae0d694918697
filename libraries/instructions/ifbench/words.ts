import { isLower, isUpper, lstrip, rstrip, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { countSyllables, splitSentences, wordTokens } from "../text/index.ts";
import { PUNCTUATION, withoutPunctuation } from "../text/punctuation.ts";

const EDGES = `${PUNCTUATION} `;
const CONSONANTS = /[b-df-hj-np-tv-z]{2}/;
const PRIMES = new Set([
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
]);
const JAPANESE = /[\u3040-\u30ff\u4e00-\u9fff]/;
const DIGITS = /^[\p{Nd}\p{No}]+$/u;

/** The words of a text without punctuation. */
function plainWords(text: string): string[] {
  return splitWords(withoutPunctuation(text));
}

function initial(word: string): string {
  return String.fromCodePoint(word.codePointAt(0) ?? 0);
}

/** Whether a condition holds for all neighbours. */
function pairwise<T>(items: readonly T[], holds: (left: T, right: T) => boolean): boolean {
  return items.every((item, index) => index === 0 || holds(items[index - 1] as T, item));
}

/** Whether each word begins with the letter after that of the word before it, with a after z. */
function followsAlphabet(text: string): boolean {
  const letters = plainWords(text).map((word) => initial(word.toLowerCase()));
  const [first] = letters;
  if (first === undefined || !/^[a-z]$/.test(first)) return false;
  const start = first.charCodeAt(0) - 97;
  return letters.every((letter, index) => letter === String.fromCharCode(97 + ((start + index) % 26)));
}

function isPalindrome(word: string): boolean {
  const letters = [...word];
  return letters.length >= 5 && letters.every((letter, index) => letter === letters.at(-1 - index));
}

export const wordInstructions: Instructions = {
  "words:alphabet": { kwargs: [], check: followsAlphabet },
  "words:vowel": {
    kwargs: [],
    check(text) {
      const paragraph = strip(text);
      return !paragraph.includes("\n") && new Set(paragraph.toLowerCase().match(/[aeiou]/g)).size <= 3;
    },
  },
  "words:consonants": {
    kwargs: [],
    check: (text) => splitWords(text.toLowerCase()).every((word) => CONSONANTS.test(word)),
  },
  "words:palindrome": {
    kwargs: [],
    check: (text) => plainWords(text.toLowerCase()).filter(isPalindrome).length >= 10,
  },
  "words:prime_lengths": {
    kwargs: [],
    check: (text) => plainWords(text).every((word) => PRIMES.has([...word].length)),
  },
  "words:repeats": {
    kwargs: ["small_n"],
    check(text, kwargs) {
      const counts = new Map<string, number>();
      for (const word of plainWords(text.toLowerCase())) counts.set(word, (counts.get(word) ?? 0) + 1);
      const most = kwargs.count("small_n");
      return [...counts.values()].every((count) => count <= most);
    },
  },
  "words:odd_even_syllables": {
    kwargs: [],
    check: (text) =>
      pairwise(
        plainWords(text.toLowerCase()).map((word) => countSyllables(word) % 2),
        (left, right) => left !== right,
      ),
  },
  "words:last_first": {
    kwargs: [],
    check: (text) =>
      pairwise(splitSentences(text), (left, right) => {
        const last = splitWords(rstrip(left, EDGES)).at(-1);
        return (
          last !== undefined && last.toLowerCase() === splitWords(lstrip(right, EDGES))[0]?.toLowerCase()
        );
      }),
  },
  "words:paragraph_last_first": {
    kwargs: [],
    check: (text) =>
      text.split("\n").every((paragraph) => {
        const words = splitWords(strip(strip(paragraph).toLowerCase(), EDGES));
        return words[0] === words.at(-1);
      }),
  },
  "words:no_consecutive": {
    kwargs: [],
    check: (text) => pairwise(plainWords(text.toLowerCase()).map(initial), (left, right) => left !== right),
  },
  "words:keywords_specific_position": {
    kwargs: ["keyword", "n", "m"],
    check(text, kwargs) {
      const keyword = kwargs.word("keyword");
      const words = wordTokens(splitSentences(text)[kwargs.position("n") - 1] ?? "");
      return words[kwargs.position("m") - 1] === keyword;
    },
  },
  "words:words_position": {
    kwargs: ["keyword"],
    check(text, kwargs) {
      const keyword = strip(kwargs.text("keyword"));
      const words = wordTokens(text);
      return words[1] === keyword && words.at(-2) === keyword;
    },
  },
  "count:words_japanese": {
    kwargs: ["N"],
    check(text, kwargs) {
      const every = kwargs.position("N");
      return splitWords(text).every((word, index) => {
        const bare = strip(word, EDGES);
        return (index + 1) % every !== 0 || bare === "" || DIGITS.test(bare) || JAPANESE.test(bare);
      });
    },
  },
  "format:title_case": {
    kwargs: [],
    check: (text) =>
      wordTokens(text).every((word) => {
        const first = initial(word);
        const rest = word.slice(first.length);
        return !isLower(first) || (!isLower(rest) && !isUpper(rest));
      }),
  },
};
