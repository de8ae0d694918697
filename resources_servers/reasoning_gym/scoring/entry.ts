import { codePointLength } from "nemo-gym/python";

/** A task as its row holds it. */
export interface Entry {
  question: string;
  /** The known right answer; null where a task has many. */
  answer: string | null;
  metadata: Readonly<Record<string, unknown>>;
}

/** Scores an answer from 0 to 1. Throwing means 0: the row or the answer is not what the task's scorer can read. */
export type Scorer = (answer: string, entry: Entry) => number;

/** A row without what its scorer needs. */
class EntryError extends Error {
  override readonly name = "EntryError";
}

/** The right answer; tasks without one cannot be scored by it. */
export function oracle(entry: Entry): string {
  if (entry.answer === null) throw new EntryError("the row has no answer");
  return entry.answer;
}

/** A member of the metadata that must be there. */
export function metadata<T>(entry: Entry, key: string): T {
  const value = entry.metadata[key];
  if (value === undefined) throw new EntryError(`the metadata lack '${key}'`);
  return value as T;
}

/** 1 for the right answer; what contains it earns the share the right answer has of it. */
export function containmentScore(answer: string, wanted: string): number {
  if (answer === "") return 0;
  if (answer === wanted) return 1;
  return answer.includes(wanted) ? codePointLength(wanted) / codePointLength(answer) : 0;
}

/** The scorer of tasks that have none of their own. */
export const defaultScorer: Scorer = (answer, entry) => containmentScore(answer, oracle(entry));

/** 1 or 0. */
export const exactly = (right: boolean): number => (right ? 1 : 0);

/** The scorer's value, or `otherwise` where it throws. */
export function orElse(otherwise: number, score: () => number): number {
  try {
    return score();
  } catch {
    return otherwise;
  }
}
