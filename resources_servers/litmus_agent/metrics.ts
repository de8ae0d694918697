import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, tokenCounts } from "nemo-gym/metrics";
import { isTruthy } from "nemo-gym/python";

/** Accuracy by method and type of answer, by property with the mean error, and over repeated rollouts. */
export const litmusMetrics: MetricsHooks = {
  compute(tasks) {
    const rollouts = tasks.flat();
    const byMethod = groupBy(rollouts, (row) => textOf(row["method"]));
    const methods = [...byMethod].map(([method, rows]) => {
      const types = groupBy(rows, (row) => textOf(row["resolved_answer_type"], row["answer_type"]));
      const by_answer_type = Object.fromEntries([...types].map(([type, group]) => [type, figures(group)]));
      return [method, { ...figures(rows), by_answer_type }] as const;
    });
    const properties = groupBy(rollouts, (row) => textOf(row["property"]));
    const by_property = [...properties].map(([name, rows]) => [name, { ...figures(rows), ...errors(rows) }]);
    return {
      ...Object.fromEntries(methods),
      by_property: Object.fromEntries(by_property),
      ...passMajorityMetrics(tasks, {
        scores: (row) => ({ accuracy: Number(row["correct"] ?? false) }),
        answerField: "predicted_value",
      }).metrics,
    };
  },
  key(metrics) {
    const names = ["mean/reward", "mean/correct", "mean/abs_error"].filter((name) => name in metrics);
    const accuracy = { scoreNames: ["accuracy"] };
    return {
      ...Object.fromEntries(names.map((name) => [name, metrics[name]])),
      ...tokenCounts(metrics),
      ...highestKMetrics(metrics, "pass@1[avg-of-{k}]", accuracy),
      ...highestKMetrics(metrics, "pass@{k}", accuracy),
      ...highestKMetrics(metrics, "majority@{k}", accuracy),
    };
  },
};

function figures(rows: JsonObject[]) {
  return {
    count: rows.length,
    accuracy: mean(rows.map((row) => Number(row["correct"] ?? false))),
    mean_reward: mean(rows.map((row) => Number(row["reward"]))),
  };
}

/** The mean error of the rows that have one. */
function errors(rows: JsonObject[]) {
  const found = rows.map((row) => row["abs_error"]).filter((error) => typeof error === "number");
  return { mae: found.length === 0 ? null : mean(found), mae_count: found.length };
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const textOf = (...values: unknown[]): string => String(values.find(isTruthy) ?? "unknown");

/** Groups in the order of their names. */
function groupBy(rows: JsonObject[], nameOf: (row: JsonObject) => string): Map<string, JsonObject[]> {
  const groups = new Map<string, JsonObject[]>();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}
