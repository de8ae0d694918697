import { highestKMetrics } from "./pass-at-k.ts";

/** Token counts, and the averages, the best of k and, if wanted, the votes for the largest k. */
export function usualKeyMetrics(
  metrics: Record<string, unknown>,
  { majority = false }: { majority?: boolean } = {},
): Record<string, unknown> {
  const tokens = ["mean/input_tokens", "mean/output_tokens"].filter((name) => name in metrics);
  const answered = { excludeNames: ["no_answer"] };
  return {
    ...Object.fromEntries(tokens.map((name) => [name, metrics[name]])),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}", answered),
    ...(majority && highestKMetrics(metrics, "majority@{k}", answered)),
  };
}
