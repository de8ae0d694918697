import type { JsonObject, MetricsHooks } from "nemo-gym";
import {
  highestKMetrics,
  type PassMajorityOptions,
  passMajorityMetrics,
  subsetMetrics,
} from "nemo-gym/metrics";
import { isObject } from "nemo-gym/python";

const options: PassMajorityOptions = {
  scores: ({ all_pass, mean_criterion_pass, reward }) => ({
    all_pass: Number(all_pass ?? reward),
    mean_criterion_pass: Number(mean_criterion_pass ?? reward),
  }),
};

/** Shares of passed criteria and of answers that pass all of them, also by domain. */
export const gdpMetrics: MetricsHooks = {
  compute: (tasks) => ({
    ...passMajorityMetrics(tasks, options).metrics,
    ...subsetMetrics(
      tasks.map((task) => task.map((row) => ({ ...row, domain: domainOf(row) }))),
      "domain",
      options,
    ),
  }),
  key: (metrics) => ({
    ...pick(metrics, "mean/input_tokens"),
    ...pick(metrics, "mean/output_tokens"),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
    ...highestKMetrics(metrics, "pass@{k}"),
  }),
};

function domainOf({ verifier_metadata: metadata }: JsonObject): string | null {
  const domain = isObject(metadata) ? metadata["domain"] : undefined;
  return typeof domain === "string" ? domain : null;
}

function pick(metrics: JsonObject, name: string): JsonObject {
  return name in metrics ? { [name]: metrics[name] } : {};
}
