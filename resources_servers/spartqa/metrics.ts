import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isTruthy } from "nemo-gym/python";
import { mean, meanReward } from "../../libraries/text-measures/metrics.ts";
import { bothLabel, labelKey, noneLabel } from "./labels.ts";

/** Accuracy, also for the answers `both of them` and `none of them`, and how often answers could be read. */
export const spartqaMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    if (rows.length === 0) return {};
    const share = (field: string) => mean(rows.map((row) => Number(isTruthy(row[field]))));
    const metrics: JsonObject = {
      ...meanReward(rows),
      exact_match_rate: share("exact"),
      parse_rate: share("parsed"),
      label_resolve_rate: share("predicted_label"),
    };
    for (const label of [bothLabel, noneLabel]) {
      const group = rows.filter((row) => labelKey(String(row["target"] ?? "")) === label);
      if (group.length > 0)
        metrics[`accuracy_${label.replaceAll(" ", "_")}`] = mean(
          group.map((row) => Number(row["reward"] === 1)),
        );
    }
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(
      ["mean_reward", "exact_match_rate"]
        .filter((name) => name in metrics)
        .map((name) => [name, metrics[name]]),
    ),
};
