import type { MetricsHooks } from "../../../src/servers/definitions/define-resources.ts";
import { difference } from "./compare.ts";
import { definitionOf, type Environment } from "./environment-server.ts";
import { installConfig } from "./fixture-config.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "./rows.ts";

const comparison = { relative: 1e-9 };

/** Passes `tasks` to the environment's metrics hooks and compares the metrics and the key metrics. */
export async function runMetricsCase(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const definition = definitionOf(environment, row);
  if (definition.type !== "resources_servers") return "the environment has no metrics";
  const { metrics, config: schema } = definition.options;
  const installed = await installConfig({ ...environment.adapter.config?.(row, environment), ...row.config });
  try {
    const config: unknown = schema ? schema.parse(installed.config) : installed.config;
    const hooks: MetricsHooks | undefined = typeof metrics === "function" ? metrics(config) : metrics;
    if (!hooks?.compute) return "the environment has no custom metrics";
    const tasks = Array.isArray(row["tasks"]) ? row["tasks"].map(rowsOf) : [];
    const computed = hooks.compute(tasks);
    const found = difference(computed, row.expected["compute_metrics"], "compute_metrics", comparison);
    if (found !== undefined) return found;
    const added = row["agent_metrics_added"];
    const all = { ...computed, ...(isObject(added) && added) };
    const key = hooks.key ? hooks.key(all) : means(all);
    return difference(key, row.expected["get_key_metrics"], "get_key_metrics", comparison);
  } finally {
    await installed.remove();
  }
}

function means(metrics: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith("mean/")));
}

export function isMetricsRow(row: FixtureRow): boolean {
  return Array.isArray(row["tasks"]) && isObject(row.expected["compute_metrics"]);
}
