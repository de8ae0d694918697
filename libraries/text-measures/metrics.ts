import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, subsetMetrics } from "nemo-gym/metrics";

/** Token counts, and the averages and the best of k for the largest k. */
export function usualKeyMetrics(metrics: JsonObject): JsonObject {
  const tokens = ["mean/input_tokens", "mean/output_tokens"].filter((name) => name in metrics);
  return {
    ...Object.fromEntries(tokens.map((name) => [name, metrics[name]])),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}"),
  };
}

/** The reward as accuracy over repeated rollouts, also for each value of a row field as `<field>=<value>/…`. */
export function accuracyBy(field: string): MetricsHooks {
  return {
    compute(tasks) {
      const { metrics } = passMajorityMetrics(tasks);
      for (const [key, value] of Object.entries(subsetMetrics(tasks, field)))
        metrics[`${field}=${key}`] = value;
      return metrics;
    },
    key: usualKeyMetrics,
  };
}
