import { MetricsError } from "./errors.ts";
import { numberOf } from "./rollout-row.ts";

/** Counts equal (answer, score) pairs and averages the score over the most frequent ones. */
export class MajorityVote {
  private readonly counts = new Map<string, number>();
  private most = 0;
  private tiedPairs = 0;
  private tiedScores = 0;
  private notNumbers = 0;

  /** Counts one rollout; without an answer it has no vote. */
  add(answer: unknown, score: number): void {
    if (answer === null || answer === undefined) return;
    // NaN is not equal to itself.
    const scoreKey = Number.isNaN(score) ? `NaN ${this.notNumbers++}` : score;
    const pair = `${scoreKey} ${scalarKey(answer)}`;
    const count = (this.counts.get(pair) ?? 0) + 1;
    this.counts.set(pair, count);
    if (count > this.most) {
      this.most = count;
      this.tiedPairs = 0;
      this.tiedScores = 0;
    }
    if (count === this.most) {
      this.tiedPairs++;
      this.tiedScores += score;
    }
  }

  /** The average score of the most frequent pairs; 0 without any answer. */
  result(): number {
    return this.tiedPairs === 0 ? 0 : this.tiedScores / this.tiedPairs;
  }
}

/** Values compare as in Python: 1, 1.0 and true are equal, "1" is different. */
export function scalarKey(answer: unknown): string {
  if (typeof answer === "string") return `text ${answer}`;
  const number = numberOf(answer);
  if (number !== undefined) return `number ${number}`;
  throw new MetricsError(
    "METRICS_ANSWER_NOT_SCALAR",
    "A value that is an array or an object cannot be voted on or grouped by.",
  );
}
