import { existsSync } from "node:fs";
import { dumpsCompact } from "../python/json/json-dumps.ts";
import type { RunSummary } from "../results/summarize.ts";
import type { ArtifactPaths } from "../rollouts/files/artifact-paths.ts";
import { type Row, readRows } from "../rollouts/files/jsonl-rows.ts";
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

/** Members of captured calls that make up most of a row and are of use only beside it. */
const BULK_OF_CALLS = ["request", "response", "request_raw", "response_raw"];

/** The rollouts of a run for a tracking service, failed ones too, without their bulk. */
export async function* exportedRows(
  paths: Pick<ArtifactPaths, "output" | "failures">,
): AsyncGenerator<string> {
  for (const path of [paths.output, paths.failures].filter((file) => existsSync(file))) {
    const lenient = { skipBlank: true, exact: true, onTornLine: () => {} };
    for await (const { row } of readRows(path, lenient)) yield dumpsCompact(withoutBulk(row));
  }
}

/** A row without its trajectory and without the bodies of captured calls. */
function withoutBulk(row: Row): Row {
  const { ng_trajectory: _trajectory, ...rest } = row;
  const capture = rest["ng_model_call_capture"];
  if (!isRow(capture) || !Array.isArray(capture["calls"])) return rest;
  const calls = (capture["calls"] as unknown[]).map((call) =>
    isRow(call)
      ? Object.fromEntries(Object.entries(call).filter(([key]) => !BULK_OF_CALLS.includes(key)))
      : call,
  );
  return { ...rest, ng_model_call_capture: { ...capture, calls } };
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
