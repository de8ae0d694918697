import type { JsonObject, MetricsHooks } from "nemo-gym";
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

/** Plain averages, for environments whose metrics are not about repeated rollouts. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The average reward and the number of rollouts; nothing without rollouts. */
export function meanReward(rows: readonly JsonObject[]): JsonObject {
  const rewards = rows.map((row) => row["reward"]).filter((reward) => typeof reward === "number");
  return rewards.length === 0 ? {} : { mean_reward: mean(rewards), count: rewards.length };
}

/** The rows with each value of a field, in the order of their first row. */
export function groupBy(rows: readonly JsonObject[], field: string): Map<string, JsonObject[]> {
  const groups = new Map<string, JsonObject[]>();
  for (const row of rows) {
    const value = String(row[field] ?? "");
    const group = groups.get(value);
    if (group) group.push(row);
    else groups.set(value, [row]);
  }
  return groups;
}
