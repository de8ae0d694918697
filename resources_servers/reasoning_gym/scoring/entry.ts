import { codePointLength } from "nemo-gym/python";

/** The task of a row. */
export interface Entry {
  question: string;
  /** The known correct answer; null if a task has many. */
  answer: string | null;
  metadata: Readonly<Record<string, unknown>>;
}

/** Scores an answer from 0 to 1. An exception means 0: the scorer cannot read the row or the answer. */
export type Scorer = (answer: string, entry: Entry) => number;

/** The row lacks data that its scorer needs. */
class EntryError extends Error {
  override readonly name = "EntryError";
}

/** The correct answer; throws if the row has none. */
export function oracle(entry: Entry): string {
  if (entry.answer === null) throw new EntryError("the row has no answer");
  return entry.answer;
}

/** A required member of the metadata. */
export function metadata<T>(entry: Entry, key: string): T {
  const value = entry.metadata[key];
  if (value === undefined) throw new EntryError(`the metadata lack '${key}'`);
  return value as T;
}

/** 1 for the correct answer; a text that contains it scores the correct answer's share of the text. */
export function containmentScore(answer: string, wanted: string): number {
  if (answer === "") return 0;
  if (answer === wanted) return 1;
  return answer.includes(wanted) ? codePointLength(wanted) / codePointLength(answer) : 0;
}

/** The scorer of tasks without their own scorer. */
export const defaultScorer: Scorer = (answer, entry) => containmentScore(answer, oracle(entry));

/** 1 or 0. */
export const exactly = (right: boolean): number => (right ? 1 : 0);

/** The result of the scorer, or `otherwise` if it throws. */
export function orElse(otherwise: number, score: () => number): number {
  try {
    return score();
  } catch {
    return otherwise;
  }
}
