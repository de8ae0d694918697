import { judgeConfig } from "nemo-gym";
import { lastAssistantText, laxBool } from "nemo-gym/openai";
import { stripThinking } from "nemo-gym/verify";
import { z } from "zod";

/** The config keys of servers that ask a judge about every item of a rubric. */
export const rubricConfig = {
  ...judgeConfig,
  aggregation_mode: z.enum(["mean", "min", "max", "all", "any", "weighted"]).default("mean"),
  /** Whether the judge is asked about all items at once. */
  parallel_evaluation: laxBool().default(true),
};
const RubricConfig = z.object(rubricConfig);
type RubricConfig = z.output<typeof RubricConfig>;

/** The last message of a model or a judge, without its reasoning. */
export function finalText(response: Parameters<typeof lastAssistantText>[0]): string {
  return stripThinking(lastAssistantText(response));
}

interface Evaluation {
  score: number;
  weight?: number;
}

/** From this score on an item is passed. */
const PASSED = 0.99;

/** Grades every item of a rubric and combines the scores to a reward. */
export async function gradeRubric<Item, Result extends Evaluation>(
  { aggregation_mode, parallel_evaluation }: RubricConfig,
  items: readonly Item[],
  grade: (item: Item) => Promise<Result>,
) {
  const rubric_evaluations: Result[] = [];
  if (parallel_evaluation) rubric_evaluations.push(...(await Promise.all(items.map(grade))));
  else for (const item of items) rubric_evaluations.push(await grade(item));
  return {
    reward: aggregate(rubric_evaluations, aggregation_mode),
    rubric_evaluations,
    aggregation_mode,
    num_passed: rubric_evaluations.filter(({ score }) => score >= PASSED).length,
    num_total: rubric_evaluations.length,
  };
}

function aggregate(evaluations: readonly Evaluation[], mode: RubricConfig["aggregation_mode"]): number {
  if (evaluations.length === 0) return 0;
  const scores = evaluations.map(({ score }) => score);
  switch (mode) {
    case "mean":
      return sum(scores) / scores.length;
    case "min":
      return Math.min(...scores);
    case "max":
      return Math.max(...scores);
    case "all":
      return Number(scores.every((score) => score >= PASSED));
    case "any":
      return Number(scores.some((score) => score >= PASSED));
    case "weighted": {
      const weights = evaluations.map(({ weight = 1 }) => weight);
      const total = sum(weights);
      return total === 0 ? 0 : sum(scores.map((score, index) => score * (weights[index] ?? 1))) / total;
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
