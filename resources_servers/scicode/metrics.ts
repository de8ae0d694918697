import type { JsonObject, MetricsHooks } from "nemo-gym";

const ACCURACIES = ["mean/problem_accuracy", "subtask_accuracy"] as const;

/** The share of steps over all rollouts, and how much it differs between repeats. */
export const scicodeMetrics: MetricsHooks = {
  compute(tasks) {
    const metrics: JsonObject = { subtask_accuracy: accuracies(tasks.flat()).subtask_accuracy };
    const repeats = Math.min(...tasks.map((task) => task.length));
    if (tasks.length === 0 || repeats < 2) return metrics;
    const ordered = tasks.map((task) => task.toSorted((a, b) => indexOf(a) - indexOf(b)));
    const runs = Array.from({ length: repeats }, (_, run) =>
      accuracies(ordered.map((task) => task[run] as JsonObject)),
    );
    for (const name of ACCURACIES)
      metrics[`${name}/std_dev_across_runs`] = deviation(runs.map((run) => run[name]));
    return metrics;
  },
  key: (all) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => name.startsWith("mean/") || name.startsWith("subtask_accuracy")),
    ),
};

const indexOf = (row: JsonObject) => Number(row["_ng_rollout_index"] ?? 0);

function accuracies(rows: readonly JsonObject[]): Record<(typeof ACCURACIES)[number], number> {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  const steps = sum("num_steps_total");
  return {
    "mean/problem_accuracy": rows.length === 0 ? 0 : sum("problem_accuracy") / rows.length,
    subtask_accuracy: steps === 0 ? 0 : sum("num_steps_passed") / steps,
  };
}

function deviation(values: readonly number[]): number {
  if (values.every((value) => value === values[0])) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
