import { SimilarityBudgetError, similarityRatio } from "nemo-gym/python";

/** Far more than two long answers need, and a few seconds for hostile ones. */
const defaultMaxSteps = 500_000_000;

/** Python's `SequenceMatcher(None, a, b).ratio()`; undefined if the comparison takes too long. */
export function boundedSimilarity(a: string, b: string, maxSteps = defaultMaxSteps): number | undefined {
  try {
    return similarityRatio(a, b, { maxSteps });
  } catch (error) {
    if (error instanceof SimilarityBudgetError) return undefined;
    throw error;
  }
}
