import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { copyWith, dumps, orderedKeys } from "../../base/python/json/door.ts";
import { PyFloat } from "../../base/python/numbers/door.ts";
import { DatasetStatistics, metricsContent, RESERVED_FIELDS, validateRow } from "../../data/light-door.ts";
import { readRunFile, statRunFile } from "../../records/door.ts";
import { healthReports, type RunFiles, readRows } from "../../records/files/door.ts";
import type { PanelTexts } from "../api-types.ts";

type Row = Record<string, unknown>;
type Kind = "text" | "number";

const MAX_BESIDE_BYTES = 4 * 1024 * 1024;

/** The dataset statistics over the rollouts, and the metrics files of the run. Reads the whole file. */
export async function panelTexts(run: RunFiles, signal?: AbortSignal): Promise<PanelTexts> {
  const panel = new DatasetPanel();
  const reading = { skipBlank: true, onTornLine: () => {}, signal };
  let problem: string | undefined;
  try {
    for await (const { row } of readRows(run.rollouts, reading)) {
      const verdict = validateRow(row);
      if (verdict.valid) panel.observe(row, verdict.params);
    }
  } catch (error) {
    signal?.throwIfAborted();
    problem = errorMessage(error);
  }
  const { json, leftOut } = panel.result();
  const files: PanelTexts["files"] = [];
  for (const file of [run.aggregateMetrics, run.statistics, run.manifest, run.progress]) {
    // The panel shows an error in place of a file that cannot be read.
    const text = await readRunFile(file, MAX_BESIDE_BYTES).catch(errorMessage);
    if (text !== undefined) files.push({ name: path.basename(file), text });
  }
  const left =
    problem === undefined ? [] : [{ field: "(rows after the first that cannot be read)", reason: problem }];
  return { dataset: json, left_out: [...leftOut, ...left], files, existing: await existingFiles(run) };
}

async function existingFiles({
  logs: _logs,
  lock: _lock,
  ...run
}: RunFiles): Promise<PanelTexts["existing"]> {
  const existing: PanelTexts["existing"] = [];
  const reports = Object.values(await healthReports(run.rollouts));
  for (const file of new Set([...Object.values(run), ...reports])) {
    const entry = await statRunFile(file).catch(() => undefined);
    if (entry?.isFile) existing.push({ name: path.basename(file), bytes: entry.size });
  }
  return existing.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The dataset statistics of a rollouts file, row by row. Fields with both text and numbers, or with the name of a
 * built-in statistic, make `gym dataset collate` fail; the viewer omits them and reports that.
 */
class DatasetPanel {
  readonly #statistics = new DatasetStatistics();
  readonly #kinds = new Map<string, Kind>();
  readonly #leftOut = new Map<string, string>();

  observe(row: Row, params: Row): void {
    let counted = row;
    for (const name of orderedKeys(row)) {
      if (name === "responses_create_params" || name === "response") continue;
      this.#check(name, row[name]);
      if (!this.#leftOut.has(name)) continue;
      if (counted === row) counted = copyWith(row);
      delete counted[name];
    }
    this.#statistics.observe(counted, params);
  }

  /** The statistics in the form of the metrics files, as indented JSON, and the omitted fields with the reason. */
  result(): { json: string; leftOut: { field: string; reason: string }[] } {
    const summary = this.#statistics.summary();
    const fields = new Map([...summary.fields].filter(([name]) => !this.#leftOut.has(name)));
    return {
      json: dumps(metricsContent({}, { ...summary, fields }), { indent: 4, ensureAscii: false }),
      leftOut: [...this.#leftOut].map(([field, reason]) => ({ field, reason })),
    };
  }

  #check(name: string, value: unknown): void {
    if (this.#leftOut.has(name)) return;
    for (const item of Array.isArray(value) ? value : [value]) {
      const kind = kindOf(item);
      if (kind === undefined) continue;
      const known = this.#kinds.get(name);
      if (RESERVED_FIELDS.has(name)) this.#leftOut.set(name, "has the name of a built-in statistic");
      else if (known === undefined) this.#kinds.set(name, kind);
      else if (known !== kind) this.#leftOut.set(name, "holds text in some places and numbers in others");
    }
  }
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === "string") return "text";
  // The exact reader returns floats as objects and big integers as bigint.
  const number = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
  return number || value instanceof PyFloat ? "number" : undefined;
}
