import { splitWords } from "nemo-gym/python";

const maxOrder = 6;
/** Recall counts this many times as much as precision. */
const beta = 2;

/** For each n from 1 to 6: the n-grams of the hypothesis, of the reference, and those in both. */
export type ChrfCounts = readonly { hypothesis: number; reference: number; shared: number }[];

/** Counts the character n-grams of a translation and its reference, without white space. Counts of several sentences can be added. */
export function chrfCounts(hypothesis: string, reference: string): ChrfCounts {
  const left = charactersOf(hypothesis);
  const right = charactersOf(reference);
  return Array.from({ length: maxOrder }, (_, index) => {
    const found = ngrams(left, index + 1);
    const wanted = ngrams(right, index + 1);
    let shared = 0;
    for (const [ngram, count] of found) shared += Math.min(count, wanted.get(ngram) ?? 0);
    // As in sacreBLEU, n-grams of an order that the reference lacks do not count in a sum of sentences either.
    return { hypothesis: wanted.size === 0 ? 0 : total(found), reference: total(wanted), shared };
  });
}

export function addChrfCounts(left: ChrfCounts, right: ChrfCounts): ChrfCounts {
  return left.map((counts, index) => ({
    hypothesis: counts.hypothesis + (right[index]?.hypothesis ?? 0),
    reference: counts.reference + (right[index]?.reference ?? 0),
    shared: counts.shared + (right[index]?.shared ?? 0),
  }));
}

/** chrF2 from 0 to 100, as sacreBLEU computes it: orders for which one side has no n-grams are left out. */
export function chrf(counts: ChrfCounts): number {
  const present = counts.filter(({ hypothesis, reference }) => hypothesis > 0 && reference > 0);
  if (present.length === 0) return 0;
  let precision = 0;
  let recall = 0;
  for (const { hypothesis, reference, shared } of present) {
    precision += shared / hypothesis;
    recall += shared / reference;
  }
  if (precision + recall === 0) return 0;
  precision /= present.length;
  recall /= present.length;
  const weight = beta ** 2;
  return 100 * (((1 + weight) * precision * recall) / (weight * precision + recall));
}

function charactersOf(text: string): string[] {
  return Array.from(splitWords(text).join(""));
}

function ngrams(characters: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + order <= characters.length; start++) {
    const ngram = characters.slice(start, start + order).join("");
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return counts;
}

function total(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
