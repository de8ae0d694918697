import { porterStem } from "./porter.ts";

export interface Rouge {
  rouge1: number;
  rouge2: number;
  rougeL: number;
  rougeLsum: number;
}

/** Words of one text times words of the other; a comparison with more takes too long. */
const maxCells = 20_000_000;

/** The F measures of ROUGE with stemmed words, as the package rouge-score computes them; all 0 for texts that are too long. */
export function rouge(text: string, reference: string): Rouge {
  const stem = cachedStemmer();
  const found = tokens(text, stem);
  const wanted = tokens(reference, stem);
  if (found.length * wanted.length > maxCells) return { rouge1: 0, rouge2: 0, rougeL: 0, rougeLsum: 0 };
  return {
    rouge1: ngramScore(found, wanted, 1),
    rouge2: ngramScore(found, wanted, 2),
    rougeL: fMeasure(commonPositions(wanted, found).length, found.length, wanted.length),
    rougeLsum: summaryScore(sentences(text, stem), sentences(reference, stem)),
  };
}

/** The F measure of ROUGE-L without stemming; 0 for texts that are too long. */
export function plainRougeL(text: string, reference: string): number {
  const found = tokens(text, unchanged);
  const wanted = tokens(reference, unchanged);
  if (found.length * wanted.length > maxCells) return 0;
  return fMeasure(commonPositions(wanted, found).length, found.length, wanted.length);
}

/** The share of the reference's words that the text has, without stemming. */
export function wordRecall(text: string, reference: string): number {
  const found = ngramCounts(tokens(text, unchanged), 1);
  const wanted = tokens(reference, unchanged);
  let shared = 0;
  for (const [word, count] of ngramCounts(wanted, 1)) shared += Math.min(count, found.get(word) ?? 0);
  return shared / Math.max(wanted.length, 1);
}

function unchanged(word: string): string {
  return word;
}

/** Words of ASCII letters and digits in lower case; those with more than three characters are stemmed. */
function tokens(text: string, stem: (word: string) => string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.map((word) => (word.length > 3 ? stem(word) : word));
}

function sentences(text: string, stem: (word: string) => string): string[][] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => tokens(line, stem));
}

/** Long texts repeat their words. */
function cachedStemmer(): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    const stem = stems.get(word) ?? porterStem(word);
    stems.set(word, stem);
    return stem;
  };
}

function ngramScore(found: readonly string[], wanted: readonly string[], order: number): number {
  const left = ngramCounts(found, order);
  const right = ngramCounts(wanted, order);
  let shared = 0;
  for (const [ngram, count] of right) shared += Math.min(count, left.get(ngram) ?? 0);
  return fMeasure(shared, Math.max(found.length - order + 1, 1), Math.max(wanted.length - order + 1, 1));
}

export function ngramCounts(words: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + order <= words.length; start++) {
    const ngram = words.slice(start, start + order).join(" ");
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return counts;
}

function fMeasure(shared: number, found: number, wanted: number): number {
  if (shared === 0) return 0;
  const precision = shared / found;
  const recall = shared / wanted;
  return (2 * precision * recall) / (precision + recall);
}

/** For each sentence of the reference: its words that are common to it and any sentence of the text. No word counts more often than it occurs. */
function summaryScore(text: string[][], reference: string[][]): number {
  const left = ngramCounts(text.flat(), 1);
  const right = ngramCounts(reference.flat(), 1);
  let hits = 0;
  for (const sentence of reference) {
    const positions = new Set(text.flatMap((other) => commonPositions(sentence, other)));
    for (const position of [...positions].sort((a, b) => a - b)) {
      const word = sentence[position] ?? "";
      const [available, expected] = [left.get(word) ?? 0, right.get(word) ?? 0];
      if (available === 0 || expected === 0) continue;
      hits++;
      left.set(word, available - 1);
      right.set(word, expected - 1);
    }
  }
  return fMeasure(hits, text.flat().length, reference.flat().length);
}

/** The positions in the first list of a longest common subsequence of both lists. */
function commonPositions(first: readonly string[], second: readonly string[]): number[] {
  const width = second.length + 1;
  const lengths = new Uint32Array((first.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = 1; row <= first.length; row++)
    for (let column = 1; column <= second.length; column++)
      lengths[row * width + column] =
        first[row - 1] === second[column - 1]
          ? at(row - 1, column - 1) + 1
          : Math.max(at(row - 1, column), at(row, column - 1));
  const positions: number[] = [];
  let row = first.length;
  let column = second.length;
  while (row > 0 && column > 0) {
    if (first[row - 1] === second[column - 1]) {
      positions.push(row - 1);
      row--;
      column--;
    } else if (at(row, column - 1) > at(row - 1, column)) column--;
    else row--;
  }
  return positions.reverse();
}
