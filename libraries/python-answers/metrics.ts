import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";

/** pass@k and majority@k of scores that are 0 or 1; equal answers vote together. */
export function passMetrics(
  scores: (row: JsonObject) => Record<string, number>,
  answerField: string,
): MetricsHooks {
  return {
    compute: (tasks) => passMajorityMetrics(tasks, { scores, answerField }).metrics,
    key: (all) => ({ ...highestKMetrics(all, "pass@1[avg-of-{k}]"), ...highestKMetrics(all, "pass@{k}") }),
  };
}
