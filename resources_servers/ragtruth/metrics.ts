import type { JsonObject, MetricsHooks } from "nemo-gym";
import { groupBy, mean, meanReward } from "../../libraries/text-measures/metrics.ts";

/** Precision, recall and F1 of the rollouts that found hallucinations, for all rows and for each `task_type`. */
export const hallucinationMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    if (rows.length === 0) return {};
    const metrics: JsonObject = {
      ...meanReward(rows),
      parse_fail_rate: mean(rows.map((row) => Number(row["parse_fail"]))),
      ...detection(rows),
    };
    for (const [type, group] of groupBy(rows, "task_type")) {
      const { precision, recall, f1 } = detection(group);
      const accuracy = mean(group.map((row) => Number(row["reward"])));
      for (const [name, value] of Object.entries({ precision, recall, f1, accuracy, count: group.length }))
        metrics[`task_type/${type}/${name}`] = value;
    }
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(
      Object.entries(metrics).filter(([name]) =>
        /^(mean_reward|f1|precision|recall)$|\/(f1|accuracy)$/.test(name),
      ),
    ),
};

/** Ratios that are undefined count as 0. */
function detection(rows: readonly JsonObject[]): { precision: number; recall: number; f1: number } {
  const count = (predicate: (row: JsonObject) => boolean) => rows.filter(predicate).length;
  const hits = count((row) => row["pred_halu"] === 1 && row["is_halu"] === 1);
  const precision = hits / (count((row) => row["pred_halu"] === 1) || 1);
  const recall = hits / (count((row) => row["is_halu"] === 1) || 1);
  return { precision, recall, f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}
