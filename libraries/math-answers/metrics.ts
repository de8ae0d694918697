import type { JsonObject, MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, usualKeyMetrics } from "nemo-gym/metrics";

/** The scores of one rollout: the comparison alone, and with the judge if one was asked. */
export function mathScores(row: JsonObject): Record<string, number> {
  const scores: Record<string, number> = {};
  if (typeof row["library_reward"] === "number") scores["symbolic_accuracy"] = row["library_reward"];
  if (row["judge_evaluations"] && typeof row["reward"] === "number") scores["judge_accuracy"] = row["reward"];
  return scores;
}

/** Averages and best of k, including votes. */
export function mathKeyMetrics(metrics: JsonObject): JsonObject {
  return usualKeyMetrics(metrics, { majority: true });
}

export const mathMetrics: MetricsHooks = {
  compute: (tasks) =>
    passMajorityMetrics(tasks, { scores: mathScores, answerField: "extracted_answer" }).metrics,
  key: mathKeyMetrics,
};
