import type { JsonObject, MetricsHooks } from "nemo-gym";

const SPREAD = [
  "acceptance_length",
  "acceptance_rate",
  "num_drafts",
  "draft_tokens",
  "accepted_tokens",
] as const;
const HEADLINES = [
  ...["num_entries", "avg_tokens", "gen_seconds", "spec_acceptance_length", "spec_acceptance_rate"],
  ...["spec_acceptance_length_std_err_across_runs", "spec_acceptance_rate_std_err_across_runs"],
];

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

export const speedMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const metrics: JsonObject = { num_entries: rows.length };
    if (rows.length === 0) return metrics;
    metrics["avg_tokens"] = mean(rows.map((row) => Number(row["num_generated_tokens"] ?? 0)));
    metrics["gen_seconds"] = Math.max(...rows.map((row) => Number(row["gen_seconds"] ?? 0)));
    // The counters only grow, so the rollout with the most draft tokens was measured last.
    const last = rows.reduce((most, row) =>
      Number(row["draft_tokens"] ?? -1) > Number(most["draft_tokens"] ?? -1) ? row : most,
    );
    for (const name of [...SPREAD, "per_position_acceptance_rates"])
      metrics[`spec_${name}`] = last[name] ?? null;
    metrics["spec_decode_unavailable"] = rows.some((row) => row["spec_decode_unavailable"] === true);
    if (tasks.every((task) => task.length >= 2))
      for (const name of SPREAD) Object.assign(metrics, spread(tasks, name));
    return metrics;
  },
  key: (all) => Object.fromEntries(HEADLINES.flatMap((name) => (name in all ? [[name, all[name]]] : []))),
};

/** Averages and deviations of one value, over the tasks that have it in all rollouts. */
function spread(tasks: readonly JsonObject[][], name: string): JsonObject {
  const values = tasks
    .map((task) => task.map((row) => row[name]))
    .filter((task): task is number[] => task.every((value) => typeof value === "number"));
  const runs = Math.min(...values.map((task) => task.length));
  if (values.length === 0 || runs < 2) return {};
  const means = Array.from({ length: runs }, (_, run) => mean(values.map((task) => task[run] as number)));
  const across = deviation(means);
  return {
    [`spec_${name}_avg`]: mean(means),
    [`spec_${name}_std_dev_across_runs`]: across,
    [`spec_${name}_std_err_across_runs`]: across / Math.sqrt(runs),
    [`spec_${name}_avg_sample_std_dev`]: mean(values.map((task) => deviation(task.slice(0, runs)))),
  };
}
