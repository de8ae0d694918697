import { splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { PUNCTUATION, withoutPunctuation } from "../text/punctuation.ts";
import { STOP_WORDS } from "../text/stop-words.ts";

const EDGES = `${PUNCTUATION} `;
const WORD = /[\p{L}\p{N}_]+/gu;
const CONJUNCTIONS = new Set(["and", "but", "for", "nor", "or", "so", "yet"]);
const NAMES =
  "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan".split(
    " ",
  );
const PRONOUNS = new Set(
  "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them their theirs themselves".split(
    " ",
  ),
);

/** How often a text occurs in another one, without overlaps. */
function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The sequences of three characters of a text. */
function trigrams(text: string): Set<string> {
  const characters = [...text];
  return new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join("")));
}

export const countInstructions: Instructions = {
  "count:word_count_range": {
    kwargs: ["min_words", "max_words"],
    check(text, kwargs) {
      const words = text.match(WORD)?.length ?? 0;
      return kwargs.count("min_words") <= words && words <= kwargs.count("max_words");
    },
  },
  "count:unique_word_count": {
    kwargs: ["N"],
    check: (text, kwargs) =>
      new Set(splitWords(text.toLowerCase()).map((word) => strip(word, EDGES))).size >= kwargs.count("N"),
  },
  "count:conjunctions": {
    kwargs: ["small_n"],
    check(text, kwargs) {
      const found = splitWords(text).filter((word) => CONJUNCTIONS.has(strip(word, EDGES).toLowerCase()));
      return new Set(found).size >= kwargs.count("small_n");
    },
  },
  "count:person_names": {
    kwargs: ["N"],
    check: (text, kwargs) => NAMES.filter((name) => text.includes(name)).length >= kwargs.count("N"),
  },
  "count:numbers": {
    kwargs: ["N"],
    check: (text, kwargs) => (withoutPunctuation(text).match(/\p{Nd}+/gu)?.length ?? 0) === kwargs.count("N"),
  },
  "count:pronouns": {
    kwargs: ["N"],
    check(text, kwargs) {
      const words = splitWords(withoutPunctuation(text.replaceAll("/", " ").toLowerCase()));
      return words.filter((word) => PRONOUNS.has(word)).length >= kwargs.count("N");
    },
  },
  "count:punctuation": {
    kwargs: [],
    check(text) {
      if (!/!\?|\?!|‽/.test(text)) return false;
      const rest = text.includes("?!") ? text.replace("?!", "") : text.replace("!?", "");
      return [...".,!?;:"].every((mark) => rest.includes(mark));
    },
  },
  "count:keywords_multiple": {
    kwargs: ["keyword1", "keyword2", "keyword3", "keyword4", "keyword5"],
    check(text, kwargs) {
      const lower = text.toLowerCase();
      return [1, 2, 3, 5, 7].every(
        (count, index) => occurrences(lower, kwargs.word(`keyword${index + 1}`).toLowerCase()) === count,
      );
    },
  },
  "ratio:stop_words": {
    kwargs: ["percentage"],
    check(text, kwargs) {
      const words = text.match(WORD) ?? [];
      const stops = words.filter((word) => STOP_WORDS.has(word.toLowerCase()));
      return words.length > 0 && (stops.length / words.length) * 100 <= kwargs.count("percentage");
    },
  },
  "ratio:overlap": {
    kwargs: ["reference_text", "percentage"],
    check(text, kwargs) {
      const own = trigrams(text);
      const reference = trigrams(kwargs.text("reference_text"));
      const shared = [...own].filter((gram) => reference.has(gram)).length;
      const wanted = kwargs.count("percentage");
      // Without a trigram the share is NaN, which no range contains.
      return Math.abs((shared / own.size) * 100 - wanted) <= 2;
    },
  },
};
