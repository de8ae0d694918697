import { byCodePoint, codePointLength, dumps, loads, splitWords, strip } from "nemo-gym/python";
import { type Entry, exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";
import { parseLiteral } from "./python-literal.ts";

const json = (text: string): unknown => loads(text, { allowNonFinite: true });

const letterJumble: Scorer = (answer, entry) => {
  const wanted = splitWords(strip(oracle(entry)).toLowerCase());
  const given = splitWords(strip(answer).toLowerCase());
  if (strip(answer).toLowerCase() === strip(oracle(entry)).toLowerCase()) return 1;
  let score = 0;
  for (const [index, word] of wanted.entries()) if (given[index] === word) score += 1 / wanted.length;
  return Math.min(1, score);
};

const palindromeGeneration: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const letters = Array.from(strip(answer).toLowerCase());
  if (letters.some((letter, index) => letter !== letters[letters.length - 1 - index])) return 0.02;
  const given = letters.sort(byCodePoint).join("");
  return given === [...metadata<string[]>(entry, "letters")].sort(byCodePoint).join("") ? 1 : 0.05;
};

const partitions = (value: unknown): Set<string> => {
  if (!Array.isArray(value) || !value.every(Array.isArray)) throw new TypeError("not a list of lists");
  return new Set(value.map((parts) => dumps(parts)));
};

const palindromePartitioning: Scorer = (answer, entry) =>
  orElse(0, () => {
    const given = partitions(json(answer));
    const wanted = partitions(metadata(entry, "solution"));
    return exactly(given.size === wanted.size && [...given].every((parts) => wanted.has(parts)));
  });

const sentenceReordering: Scorer = (answer, entry) => {
  const wanted = oracle(entry);
  if (answer === wanted) return 1;
  const goal = splitWords(wanted);
  const given = splitWords(answer);
  if (goal.length !== given.length) return 0.05;
  const right = goal.filter((word, index) => word.toLowerCase() === given[index]?.toLowerCase()).length;
  return goal.length === 0 ? 0 : right / goal.length;
};

const spellBackward: Scorer = (answer, entry) => {
  const wanted = Array.from(oracle(entry).toLowerCase());
  const given = Array.from(answer.toLowerCase());
  if (wanted.join("") === given.join("")) return 1;
  let reward = 0;
  for (let index = 0; index < Math.min(wanted.length, given.length); index++) {
    if (wanted[index] === given[index]) reward += 1 / wanted.length;
  }
  return reward === 1 ? reward - 0.2 : reward;
};

const stringInsertion: Scorer = (answer, entry) => {
  if (answer === oracle(entry)) return 1;
  return orElse(0, () => {
    const parts = parseLiteral(answer);
    const joined =
      Array.isArray(parts) && parts.every((part) => typeof part === "string") ? parts.join("") : parts;
    return joined === oracle(entry) ? 0.1 : 0;
  });
};

/**
 * Each step changes one letter, from the first word to the last. The original also halves the score for every word that is not in
 * its dictionary; a dictionary is not part of a row.
 */
const wordLadder: Scorer = (answer, entry) => {
  const words = answer
    .toUpperCase()
    .split(",")
    .map((word) => strip(word));
  const [start, end] = [metadata<string>(entry, "start_word"), metadata<string>(entry, "end_word")];
  if (words.length < 2 || words[0] !== start || words.at(-1) !== end) return 0;
  if (words.some((word) => codePointLength(word) !== end.length || !/^\p{L}+$/u.test(word))) return 0;
  const oneLetter = (word: string, index: number) =>
    index === 0 || differences(words[index - 1] ?? "", word) === 1;
  return exactly(words.every(oneLetter));
};

function differences(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  return a.filter((letter, index) => letter !== b[index]).length;
}

const wordSorting: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = metadata<string[]>(entry, "sorted_words");
  const given = answer.split(",").map((word) => strip(word));
  if (given.length === wanted.length && given.every((word, index) => word === wanted[index])) return 1;
  const placed = given.filter((word, index) => index < wanted.length && word === wanted[index]).length;
  const share = placed / wanted.length;
  const sorted = (words: readonly string[]) => [...words].sort(byCodePoint).join("\0");
  return sorted(given) === sorted(wanted) ? Math.max(share, 0.2) : share;
};

const groupAnagrams: Scorer = (answer, entry) =>
  orElse(0, () => (groups(json(answer)) === groups(metadata(entry, "solution")) ? 1 : 0.01));

/** A form of the groups that does not depend on their order. */
function groups(value: unknown): string {
  if (!Array.isArray(value)) throw new TypeError("not a list");
  const sorted = value.map((group) => {
    if (!Array.isArray(group) || !group.every((word) => typeof word === "string"))
      throw new TypeError("not a list of words");
    return [...group].sort(byCodePoint);
  });
  return dumps(sorted.sort((left, right) => byCodePoint(left[0] ?? "", right[0] ?? "")));
}

const emojiMystery: Scorer = (answer, entry) => {
  const wanted = Array.from(oracle(entry));
  const given = Array.from(answer);
  if (given.length !== wanted.length) return 0.01;
  return given.filter((letter, index) => letter === wanted[index]).length / given.length;
};

const figletFont: Scorer = (answer, entry) => {
  const wanted = Array.from(strip(oracle(entry)).toLowerCase());
  const given = Array.from(strip(answer.replaceAll(" ", "")).toLowerCase());
  if (given.join("") === wanted.join("")) return 1;
  return Math.min(given.filter((letter, index) => letter === wanted[index]).length * 0.1, 1);
};

const needleHaystack: Scorer = (answer, entry) =>
  exactly(strip(answer.replaceAll(" ", "")).toLowerCase() === strip(oracle(entry)).toLowerCase());

/** Compares texts without regard to case and line breaks. */
export const sameLetters: Scorer = (answer, entry: Entry) => {
  const plain = (text: string) => text.toLowerCase().replaceAll("\n", "");
  return exactly(plain(answer) === plain(oracle(entry)));
};

export const words: Record<string, Scorer> = {
  emoji_mystery: emojiMystery,
  figlet_font: figletFont,
  group_anagrams: groupAnagrams,
  letter_jumble: letterJumble,
  needle_haystack: needleHaystack,
  palindrome_generation: palindromeGeneration,
  palindrome_partitioning: palindromePartitioning,
  sentence_reordering: sentenceReordering,
  spell_backward: spellBackward,
  string_insertion: stringInsertion,
  word_ladder: wordLadder,
  word_sorting: wordSorting,
};
