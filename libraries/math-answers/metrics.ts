import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";

/** The scores of one rollout: the comparison alone, and with the judge if one was asked. */
export function mathScores(row: JsonObject): Record<string, number> {
  const scores: Record<string, number> = {};
  if (typeof row["library_reward"] === "number") scores["symbolic_accuracy"] = row["library_reward"];
  if (row["judge_evaluations"] && typeof row["reward"] === "number") scores["judge_accuracy"] = row["reward"];
  return scores;
}

/** Averages and best of k, including votes; `no_answer` only where it is a share of rollouts. */
export function mathKeyMetrics(metrics: JsonObject): JsonObject {
  const key: JsonObject = {};
  for (const name of ["mean/input_tokens", "mean/output_tokens"])
    if (name in metrics) key[name] = metrics[name];
  return {
    ...key,
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}", { excludeNames: ["no_answer"] }),
    ...highestKMetrics(metrics, "majority@{k}", { excludeNames: ["no_answer"] }),
  };
}

export const mathMetrics: MetricsHooks = {
  compute: (tasks) =>
    passMajorityMetrics(tasks, { scores: mathScores, answerField: "extracted_answer" }).metrics,
  key: mathKeyMetrics,
};
