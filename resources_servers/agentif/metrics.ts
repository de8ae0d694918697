import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject } from "nemo-gym/python";

/** The names of groups in the metrics, by their names in results. */
const GROUPS = {
  by_dimension: { unconditional: "vanilla", conditional: "condition", example_driven: "example" },
  by_type: { formatting: "formatting", semantic: "semantic", resource: "tool" },
};

/** Shares of constraints (`csr`) and of whole instructions (`isr`) that were followed. */
export const agentifMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const sum = (key: string, from: readonly JsonObject[] = rows) =>
      from.reduce((total, row) => total + (Number(row[key]) || 0), 0);
    const accuracy = (from: readonly JsonObject[]) =>
      ratio(sum("n_true", from), sum("n_true", from) + sum("n_false", from));
    const metrics: JsonObject = { csr: accuracy(rows), isr: ratio(sum("isr_pass"), sum("isr_counted")) };
    for (const [field, names] of Object.entries(GROUPS))
      for (const [group, name] of Object.entries(names)) {
        const counts = rows.flatMap((row) =>
          isObject(row[field]) && isObject(row[field][group]) ? [row[field][group]] : [],
        );
        if (sum("n_true", counts) + sum("n_false", counts) > 0)
          metrics[`${field}/${name}/accuracy`] = accuracy(counts);
      }
    return {
      ...metrics,
      mean_reward: ratio(sum("reward"), rows.length),
      count: rows.length,
      n_null_total: sum("n_null"),
      n_skipped_total: sum("n_skipped"),
      n_error_total: sum("n_error"),
    };
  },
  key: (metrics) =>
    Object.fromEntries(
      ["isr", "csr", "mean_reward"].flatMap((name) => (name in metrics ? [[name, metrics[name]]] : [])),
    ),
};

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
