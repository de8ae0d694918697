import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";
import { choiceMetrics } from "../../libraries/multiple-choice/metrics.ts";
import { errorModes } from "./error-mode.ts";

/** The metrics of multiple-choice questions, also for each source and field of chemistry, and the share of each kind of error. */
export const bunsenMetrics: MetricsHooks = {
  compute: (tasks) => ({
    ...choiceMetrics.compute?.(tasks),
    ...groupMetrics(tasks, "by_source", ["source"]),
    ...groupMetrics(tasks, "by_bct_field", ["bct_field"]),
    ...groupMetrics(tasks, "by_bct_subfield", ["bct_field", "bct_subfield"]),
    ...errorShares(tasks.flat()),
  }),
  key: (metrics) => ({
    ...choiceMetrics.key?.(metrics),
    ...highestKMetrics(metrics, "pass@{k}", { scoreNames: ["accuracy"] }),
    ...Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) =>
          /^error_modes\/[^/]+$/.test(name) || name === "pass@1/accuracy" || name === "pass@1/no_answer",
      ),
    ),
  }),
};

/** The metrics of the tasks with each value of the fields, as `<prefix>/<values>/…`. */
function groupMetrics(tasks: JsonObject[][], prefix: string, fields: string[]): JsonObject {
  const groups = new Map<string, JsonObject[][]>();
  for (const task of tasks) {
    const values = fields.map((field) => task[0]?.[field]);
    if (!values.every((value) => typeof value === "string" && value !== "")) continue;
    const name = [prefix, ...values.map((value) => metricName(String(value)))].join("/");
    groups.set(name, [...(groups.get(name) ?? []), task]);
  }
  const metrics: JsonObject = {};
  for (const [name, group] of groups) {
    const { per_sample_aggregate: _, ...values } = passMajorityMetrics(group, {
      answerField: "extracted_answer",
    }).metrics;
    for (const [metric, value] of Object.entries(values)) metrics[`${name}/${metric}`] = value;
  }
  return metrics;
}

function metricName(value: string): string {
  return value.replaceAll("/", "__").replace(/[^\w.-]/g, "_");
}

/** In percent, with the number of rollouts. */
function errorShares(rows: JsonObject[]): JsonObject {
  const metrics: JsonObject = {};
  if (rows.length === 0) return metrics;
  for (const mode of errorModes) {
    const count = rows.filter((row) => row["error_mode"] === mode).length;
    metrics[`error_modes/${mode}/count`] = count;
    metrics[`error_modes/${mode}`] = (100 * count) / rows.length;
  }
  return metrics;
}
