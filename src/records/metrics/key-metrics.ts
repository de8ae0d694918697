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
