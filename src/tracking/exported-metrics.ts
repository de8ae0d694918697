import type { RunSummary } from "../results/summarize.ts";
import type { MetricValues } from "./exporter.ts";

/** The metrics of a run under the names exporters give them; lists and objects are left out. */
export function exportedMetrics({ agents }: RunSummary): MetricValues {
  const values: Record<string, boolean | number | string | null> = {};
  const add = (prefix: string, metrics: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(metrics)) {
      const scalar = value === null || ["boolean", "number", "string"].includes(typeof value);
      if (scalar) values[`${prefix}/${key}`] = value as boolean | number | string | null;
    }
  };
  for (const { agent, metrics } of agents) add(agent, metrics.agent_metrics);
  for (const { agent, metrics } of agents) add(`key_metrics/${agent}`, metrics.key_metrics);
  return values;
}
