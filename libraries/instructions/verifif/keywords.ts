import { lstrip, rstrip, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { KwargsError } from "../kwargs.ts";
import { PUNCTUATION } from "../text/punctuation.ts";
import { isRelated, texts } from "./arguments.ts";
import type { Language } from "./languages.ts";
import { withoutListNumbers } from "./text.ts";

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Finds a phrase in any case with any white space between its words; no character of `inside` may be next to it. */
export function phrasePattern(phrase: string, inside: string): RegExp {
  const words = splitWords(phrase).map(escaped).join("\\s+");
  if (words === "") throw new KwargsError("a phrase must not be empty");
  return new RegExp(`(?<![${inside}])${words}(?![${inside}])`, "giu");
}

const KEYWORD = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}'-]*[\p{L}\p{M}\p{N}])?$/u;

/** How often a keyword occurs as a whole word or phrase. */
function occurrences(text: string, keyword: string, { isUnspaced }: Language): number {
  const words = splitWords(keyword);
  if (isUnspaced) {
    const folded = words.join(" ").normalize("NFKC").toLowerCase();
    return folded === "" ? 0 : text.normalize("NFKC").toLowerCase().split(folded).length - 1;
  }
  if (!words.every((word) => KEYWORD.test(word)))
    throw new KwargsError(`'${keyword}' is not a word or phrase`);
  return text.match(phrasePattern(keyword, "\\p{L}\\p{N}_'\\-"))?.length ?? 0;
}

function countLetters(text: string, letters: string): number {
  return [...text].filter((character) => letters.includes(character)).length;
}

const CONSONANTS = "bcdfghjklmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ";

export function keywordInstructions(language: Language): Instructions {
  const words = (text: string) => language.words(withoutListNumbers(text));
  const { countedVowels: vowels = language.vowels } = language;
  return {
    "keywords:existence": {
      kwargs: "any",
      check: (text, kwargs) =>
        texts(kwargs, "keywords").every((keyword) => occurrences(text, keyword, language) > 0),
    },
    "keywords:frequency": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated(occurrences(text, kwargs.text("keyword"), language), kwargs, "frequency"),
    },
    "keywords:forbidden_words": {
      kwargs: "any",
      check: (text, kwargs) =>
        texts(kwargs, "forbidden_words").every((word) => occurrences(text, word, language) === 0),
    },
    "keywords:letter_frequency": {
      kwargs: "any",
      check(text, kwargs) {
        const letter = kwargs.required("letter").toLowerCase();
        return isRelated(
          text.toLowerCase().split(letter).length - 1,
          kwargs,
          "let_frequency",
          "let_relation",
        );
      },
    },
    "keywords:alliteration": {
      kwargs: "any",
      check(text, kwargs) {
        const letter = kwargs.text("target_letter");
        return isRelated(
          words(text).filter((word) => word.startsWith(letter)).length,
          kwargs,
          "num_alliteration",
        );
      },
    },
    "keywords:palindrome_word": {
      kwargs: "any",
      check(text, kwargs) {
        const least = kwargs.number("min_length");
        return words(text).some((word) => word.length >= least && word === [...word].reverse().join(""));
      },
    },
    "keywords:positioning": {
      kwargs: "any",
      check: (text, kwargs) => words(text).at(kwargs.number("position")) === kwargs.text("keyword"),
    },
    "keywords:vowel_count": {
      kwargs: "any",
      check: (text, kwargs) =>
        isRelated(countLetters(text, vowels + vowels.toUpperCase()), kwargs, "num_vowels"),
    },
    "keywords:consonant_count": {
      kwargs: "any",
      check: (text, kwargs) => isRelated(countLetters(text, CONSONANTS), kwargs, "num_consonants"),
    },
    "startend:start_checker": {
      kwargs: "any",
      check: (text, kwargs) =>
        lstrip(text, `${PUNCTUATION} `).toLowerCase().startsWith(kwargs.text("start_phrase").toLowerCase()),
    },
    "startend:end_checker": {
      kwargs: "any",
      check(text, kwargs) {
        const phrase = strip(kwargs.text("end_phrase")).toLowerCase();
        const words = splitWords(lstrip(text, PUNCTUATION).toLowerCase());
        if (words.length === 0 || phrase === "") return false;
        if (PUNCTUATION.includes(phrase.slice(-1)))
          return words.slice(-splitWords(phrase).length).join(" ") === phrase;
        return rstrip(words.join(" "), `${PUNCTUATION} `).endsWith(phrase);
      },
    },
    "startend:wrap_checker": {
      kwargs: "any",
      check(text, kwargs) {
        const phrase = kwargs.text("wrap_phrase");
        return text.startsWith(phrase) && text.endsWith(phrase);
      },
    },
    "startend:quotation": { kwargs: "any", check: (text) => text.startsWith('"') && text.endsWith('"') },
  };
}
