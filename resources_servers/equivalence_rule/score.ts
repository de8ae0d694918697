import { SimilarityBudgetError, similarityRatio, splitWords } from "nemo-gym/python";

export const gradingRules = ["exact", "seq_match", "weighted_seq_match"] as const;
export type GradingRule = (typeof gradingRules)[number];

/** Maximum number of steps of a comparison: far more than two long answers need, and half a second for hostile ones. */
const maxSteps = 50_000_000;
const prefixLength = 10;
const prefixWeight = 0.15;

/** The similarity of a response and the expected answer, from 0 to 1; case and white space are ignored. */
export function equivalenceScore(response: string, expected: string, rule: GradingRule): number {
  const left = normalized(response);
  const right = normalized(expected);
  switch (rule) {
    case "exact":
      return left === right ? 1 : 0;
    case "seq_match":
      return ratio(left, right);
    case "weighted_seq_match": {
      const prefix = Array.from(right.slice(0, 2 * prefixLength)).slice(0, prefixLength);
      const start = Array.from(left.slice(0, 2 * prefix.length)).slice(0, prefix.length);
      const score = 0.85 * ratio(left, right) + prefixWeight * ratio(start.join(""), prefix.join(""));
      return Math.max(0, Math.min(1, score));
    }
  }
}

function normalized(text: string): string {
  return splitWords(text).join(" ").toLowerCase();
}

/** A response that is too long and repetitive to be compared in time does not match any answer. */
function ratio(left: string, right: string): number {
  try {
    return similarityRatio(left, right, { maxSteps });
  } catch (error) {
    if (error instanceof SimilarityBudgetError) return 0;
    throw error;
  }
}
