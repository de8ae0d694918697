import type { MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, subsetMetrics, usualKeyMetrics } from "nemo-gym/metrics";

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
