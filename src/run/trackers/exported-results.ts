import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dumpsCompact, isObject } from "../../base/python/json/door.ts";
import { type ArtifactPaths, type Row, readRows, writeFileAtomically } from "../../records/files/door.ts";
import type { RunSummary } from "../summarize.ts";
import type { MetricValues } from "./run-exporters.ts";

/** The metrics of a run by their exported names, without lists and objects. */
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

/** Members of captured calls that make up most of the size of a row. */
const BULK_OF_CALLS = ["request", "response", "request_raw", "response_raw"];

/** The rollouts of a run for a tracking service, including failed ones, without large members. */
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
  if (!isObject(capture) || !Array.isArray(capture["calls"])) return rest;
  const calls = (capture["calls"] as unknown[]).map((call) =>
    isObject(call)
      ? Object.fromEntries(Object.entries(call).filter(([key]) => !BULK_OF_CALLS.includes(key)))
      : call,
  );
  return { ...rest, ng_model_call_capture: { ...capture, calls } };
}

export interface TableFile {
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/** Writes a table with one column, row by row, as `{"columns": […], "data": [[…], …]}`. Both services show this format. */
export async function writeTable(
  path: string,
  column: string,
  cells: AsyncIterable<string>,
): Promise<TableFile> {
  const hash = createHash("sha256");
  const table: TableFile = { path, rows: 0, bytes: 0, sha256: "" };
  async function* parts() {
    yield `{"columns":[${JSON.stringify(column)}],"data":[`;
    for await (const cell of cells) yield `${table.rows++ > 0 ? "," : ""}[${JSON.stringify(cell)}]`;
    yield "]}";
  }
  const onBytes = (bytes: Buffer) => {
    hash.update(bytes);
    table.bytes += bytes.length;
  };
  await writeFileAtomically(path, parts(), { onBytes });
  table.sha256 = hash.digest("hex");
  return table;
}
