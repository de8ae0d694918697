import { lstrip, splitWords, strip } from "nemo-gym/python";
import type { Instructions } from "../instruction.ts";
import { splitSentences } from "../text/index.ts";
import { PUNCTUATION, withoutPunctuation } from "../text/punctuation.ts";

const EDGES = `${PUNCTUATION} `;
const EMOJI = /^\p{Emoji}$/u;

function isEmoji(character: string | undefined): boolean {
  return character !== undefined && character > "\x7f" && EMOJI.test(character);
}

/** The number of sentences that end with a mark. */
function endings(sentences: readonly string[], mark: string): number {
  return sentences.filter((sentence) => sentence.endsWith(mark)).length;
}

/** How many words stand beside one that begins with the same letter. */
function alliteration(sentence: string): number {
  const initials = splitWords(sentence.toLowerCase())
    .map((word) => [...lstrip(word, EDGES)][0])
    .filter((letter) => letter !== undefined);
  let count = 0;
  let running = false;
  for (const [index, letter] of initials.slice(1).entries()) {
    const same = letter === initials[index];
    if (same) count += running ? 1 : 2;
    running = same;
  }
  return count;
}

/** The characters of a sentence without punctuation. */
function characters(sentence: string | undefined): string[] {
  return [...strip(withoutPunctuation(sentence ?? ""))];
}

export const sentenceInstructions: Instructions = {
  "ratio:sentence_type": {
    kwargs: [],
    check(text) {
      const sentences = splitSentences(text);
      return endings(sentences, ".") === 2 * endings(sentences, "?");
    },
  },
  "ratio:sentence_balance": {
    kwargs: [],
    check(text) {
      const sentences = splitSentences(text);
      const questions = endings(sentences, "?");
      return endings(sentences, ".") === questions && endings(sentences, "!") === questions;
    },
  },
  "ratio:sentence_words": {
    kwargs: [],
    check(text) {
      const lengths = splitSentences(text).map((sentence) => [...sentence].length);
      return lengths.length === 3 && new Set(lengths).size === 1;
    },
  },
  "sentence:alliteration_increment": {
    kwargs: [],
    check(text) {
      const counts = splitSentences(text).map(alliteration);
      return counts.every((count, index) => count > (counts[index - 1] ?? -1));
    },
  },
  "sentence:increment": {
    kwargs: ["small_n"],
    check(text, kwargs) {
      const more = kwargs.count("small_n");
      const counts = splitSentences(text).map((sentence) => splitWords(withoutPunctuation(sentence)).length);
      return (
        counts.length > 0 &&
        counts.every((count, index) => index === 0 || count === (counts[index - 1] ?? 0) + more)
      );
    },
  },
  "sentence:keyword": {
    kwargs: ["word", "N"],
    check(text, kwargs) {
      const sentence = splitSentences(text)[kwargs.position("N") - 1];
      return sentence?.toLowerCase().includes(kwargs.required("word").toLowerCase()) ?? false;
    },
  },
  "format:emoji": {
    kwargs: [],
    check(text) {
      const sentences = splitSentences(text);
      return sentences.every((sentence, index) => {
        const own = characters(sentence);
        if (own.length === 0) return false;
        // An emoji may end with an invisible mark, and may stand after the full stop.
        return isEmoji(own.at(-1)) || isEmoji(own.at(-2)) || isEmoji(characters(sentences[index + 1])[0]);
      });
    },
  },
  "custom:sentence_alphabet": {
    kwargs: "any",
    check(text) {
      const sentences = splitSentences(text);
      return (
        sentences.length === 26 &&
        sentences.every((sentence, index) =>
          sentence.toLowerCase().startsWith(String.fromCharCode(97 + index)),
        )
      );
    },
  },
};
