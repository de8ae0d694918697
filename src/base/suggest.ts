import { getCloseMatches } from "./python/difflib.ts";

/** The choice that a word probably stands for, where only the choices are valid. */
export function suggest(word: string, choices: Iterable<string>): string | undefined {
  return getCloseMatches(word, [...choices], 1)[0];
}

/** Similarity above which an unknown word counts as a misspelling. */
const MISSPELT = 0.85;
/** One wrong letter changes a larger part of a short word, so words up to this length need less similarity. */
const SHORT_WORD = 6;
const SHORT_MISSPELT = 0.75;

/**
 * The known word that another one misspells. It is for open lists: other words may belong to another version or program, so
 * the similarity must be higher than for `suggest`.
 */
export function suggestMisspelt(word: string, known: Iterable<string>): string | undefined {
  const isShort = word.length <= SHORT_WORD;
  // Short words also resemble each other by chance (`cost`, `host`), but the first letter is rarely mistyped.
  const candidates = [...known].filter((name) => !isShort || name[0] === word[0]);
  return getCloseMatches(word, candidates, 1, isShort ? SHORT_MISSPELT : MISSPELT)[0];
}
