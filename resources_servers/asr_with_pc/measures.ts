import { splitWords } from "nemo-gym/python";
import { editDistance } from "../../libraries/text-measures/word-errors.ts";

export interface WordErrors {
  edits: number;
  words: number;
}

/** Edit distance between the words of two texts, and the number of words of the reference. */
export function wordErrors(reference: string, hypothesis: string): WordErrors {
  const wanted = splitWords(reference);
  const given = splitWords(hypothesis);
  return { edits: editDistance(wanted, given), words: wanted.length };
}

/** Without words in the reference: the number of words that were added. */
export function errorRate(errors: readonly WordErrors[]): number {
  const edits = errors.reduce((sum, each) => sum + each.edits, 0);
  const words = errors.reduce((sum, each) => sum + each.words, 0);
  return words === 0 ? edits : edits / words;
}

export const collapsed = (text: string) => splitWords(text).join(" ");

/** Words and punctuation marks, each a token. */
export const tokensOf = (text: string) => text.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]/gu) ?? [];

export const withoutPunctuation = (text: string) => collapsed(text.replace(/[^\p{L}\p{N}_\s]/gu, ""));

const marksOf = (text: string) => text.match(/[^\p{L}\p{N}\s]/gu) ?? [];

interface Alignment {
  correct: number;
  errors: number;
}

/** Wrong, missing and added punctuation marks, relative to all positions of the best alignment. */
export function punctuationErrorRate(reference: string, hypothesis: string): number {
  const wanted = marksOf(reference);
  const given = marksOf(hypothesis);
  const plus = ({ correct, errors }: Alignment): Alignment => ({ correct, errors: errors + 1 });
  const cell = (row: readonly Alignment[], at: number) => row[at] as Alignment;
  let row: Alignment[] = [
    { correct: 0, errors: 0 },
    ...given.map((_, index) => ({ correct: 0, errors: index + 1 })),
  ];
  for (const [index, mark] of wanted.entries()) {
    const next: Alignment[] = [{ correct: 0, errors: index + 1 }];
    for (const [column, other] of given.entries()) {
      const [diagonal, above, left] = [cell(row, column), cell(row, column + 1), cell(next, column)];
      if (mark === other) next.push({ correct: diagonal.correct + 1, errors: diagonal.errors });
      // At equal cost a substitution wins, then a missing mark.
      else if (diagonal.errors <= above.errors && diagonal.errors <= left.errors) next.push(plus(diagonal));
      else next.push(plus(above.errors <= left.errors ? above : left));
    }
    row = next;
  }
  const { correct, errors } = cell(row, given.length);
  return correct + errors === 0 ? 0 : errors / (correct + errors);
}
