import { splitWords } from "nemo-gym/python";

/** The smallest normal double: what NLTK takes instead of a precision of zero. */
const SMALLEST = 2.2250738585072014e-308;

/** Precision of single words and pairs of words, with the penalty for short texts: sentence BLEU without smoothing. */
export function bleuOfPairs(text: string, reference: string): number {
  const words = splitWords(text);
  const wanted = splitWords(reference);
  const [single, pairs] = [1, 2].map((order) => precision(words, wanted, order)) as [number, number];
  if (single === 0) return 0;
  const penalty = words.length >= wanted.length ? 1 : Math.exp(1 - wanted.length / words.length);
  return penalty * Math.exp(0.5 * Math.log(single) + 0.5 * Math.log(pairs || SMALLEST));
}

function precision(words: readonly string[], wanted: readonly string[], order: number): number {
  const available = countOf(groups(wanted, order));
  let shared = 0;
  for (const [group, count] of countOf(groups(words, order)))
    shared += Math.min(count, available.get(group) ?? 0);
  return shared / Math.max(1, words.length - order + 1);
}

function groups(words: readonly string[], order: number): string[] {
  return words.slice(order - 1).map((_, at) => words.slice(at, at + order).join(" "));
}

function countOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

const PUNCTUATION = /[!-/:-@[-`{-~]/g;
const plainWords = (text: string) => splitWords(text.toLowerCase().replace(PUNCTUATION, ""));

/** How many pairs of words of the reference the text has; undefined if the reference has none. */
export function sharedPairs(text: string, reference: string): number | undefined {
  const wanted = groups(plainWords(reference), 2);
  if (wanted.length === 0) return undefined;
  const found = new Set(groups(plainWords(text), 2));
  return new Set(wanted.filter((pair) => found.has(pair))).size / wanted.length;
}
