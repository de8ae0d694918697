import { splitWords } from "nemo-gym/python";

/**
 * 1 minus the word error rate (word edits per word of the reference), but never negative; 0 for a reference without words.
 * The cost is bounded by the reference: a text of twice its length cannot score.
 */
export function wordAccuracy(text: string, reference: string): number {
  const wanted = splitWords(reference);
  const found = splitWords(text);
  if (found.length >= 2 * wanted.length) return 0;
  return Math.max(0, 1 - editDistance(found, wanted) / wanted.length);
}

/** Levenshtein distance: insertions, deletions and substitutions that make one list the other. */
export function editDistance<Item>(left: readonly Item[], right: readonly Item[]): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, item] of left.entries()) {
    const next = [index + 1];
    for (const [column, other] of right.entries()) {
      const substituted = (row[column] ?? 0) + (item === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
