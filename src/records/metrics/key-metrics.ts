import { highestKMetrics } from "./pass-at-k.ts";

/** The average token counts, if they are known. */
export function tokenCounts(metrics: Record<string, unknown>): Record<string, unknown> {
  const names = ["mean/input_tokens", "mean/output_tokens"].filter((name) => name in metrics);
  return Object.fromEntries(names.map((name) => [name, metrics[name]]));
}

/** Token counts, and the averages, the best of k and, if wanted, the votes for the largest k. */
export function usualKeyMetrics(
  metrics: Record<string, unknown>,
  { majority = false }: { majority?: boolean } = {},
): Record<string, unknown> {
  const answered = { excludeNames: ["no_answer"] };
  return {
    ...tokenCounts(metrics),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}", answered),
    ...(majority && highestKMetrics(metrics, "majority@{k}", answered)),
  };
}

/** Numbers that describe a run and not its quality. */
const NOT_COMPARABLE = new Set([
  "_ng_task_index",
  "_ng_rollout_index",
  "_ng_attempt_index",
  "sample_count",
  "missing_count",
  "num_repeats",
  "token_usage_version",
]);
const SPREAD_PREFIX = /^(?:max|min|median|std|sem|se|p25|p75|ci_low_95|ci_high_95|histogram)\//;
const SPREAD_SUFFIX =
  /(?:\/(?:max|min|median|p5|p25|p75|p95|ci_low_95|ci_high_95|ci_lower|ci_upper|_ng_attempt_index|std_dev_across_runs|std_err_across_runs|avg_sample_std_dev)|_ci_lower|_ci_upper|_ci95_lower|_ci95_upper)$/;

/** Whether a metric is a measured value that two runs or repeats can be compared by, and not a measure of spread. */
export function isComparable(name: string, value: unknown): boolean {
  return (
    typeof value === "number" &&
    !NOT_COMPARABLE.has(name) &&
    !SPREAD_PREFIX.test(name) &&
    !SPREAD_SUFFIX.test(name) &&
    !name.includes("_across_repeats/")
  );
}
