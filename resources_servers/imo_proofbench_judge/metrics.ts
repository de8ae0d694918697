import type { JsonObject, MetricsHooks } from "nemo-gym";
import {
  highestKMetrics,
  type PassMajorityOptions,
  passMajorityMetrics,
  subsetMetrics,
} from "nemo-gym/metrics";

const CORRECT = ["any_correct", "symbolic_correct", "judge_correct"];
const POINTS = [7, 6, 1, 0];

const options: PassMajorityOptions = {
  answerField: "extracted_answer",
  scores: (row) =>
    Object.fromEntries([
      ...CORRECT.map((name) => [name, Number(row[name] ?? 0)]),
      ...POINTS.map((points) => [`judge_score_${points}`, Number(row["judge_points"] === points)]),
    ]),
};

/** Shares of right answers and of the points of the rubric, also by category and level. */
export const proofbenchMetrics: MetricsHooks = {
  compute: (tasks) => ({
    ...passMajorityMetrics(tasks, options).metrics,
    ...subsetMetrics(tasks, "category", options),
    ...subsetMetrics(tasks, "level", options),
  }),
  key: (metrics) => ({
    ...pick(metrics, "mean/input_tokens"),
    ...pick(metrics, "mean/output_tokens"),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}", { excludeNames: ["no_answer"] }),
    ...highestKMetrics(metrics, "majority@{k}", { excludeNames: ["no_answer"] }),
  }),
};

function pick(metrics: JsonObject, name: string): JsonObject {
  return name in metrics ? { [name]: metrics[name] } : {};
}
