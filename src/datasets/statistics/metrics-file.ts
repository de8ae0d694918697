import { readFile } from "node:fs/promises";
import { errorMessage } from "../../errors.ts";
import { dumps } from "../../python/json/json-dumps.ts";
import { loads } from "../../python/json/json-loads.ts";
import { noteKeyOrder } from "../../python/json/key-order.ts";
import { PyFloat } from "../../python/numbers/py-float.ts";
import { DatasetError } from "../errors.ts";
import { besidePath, OutputFile } from "../output-file.ts";
import { metricsDifferences } from "./metrics-comparison.ts";
import type { NumericSummary } from "./numeric-statistic.ts";
import type { FieldSummary, StatisticsSummary } from "./statistics.ts";

const INDENT = 4;

/** What became of a metrics file. */
export interface MetricsOutcome {
  file: string;
  status: "written" | "unchanged" | "conflict" | "overwritten";
  /** Where the new values are when they disagree with the old ones. */
  conflictFile?: string;
  /** Where old and new values disagree. */
  differences: string[];
}

export interface SettleOptions {
  /** Replace values that disagree. */
  overwrite?: boolean;
  /** Keep a file that agrees; otherwise rewrite it. */
  keepAgreeing?: boolean;
}

/** The content of a metrics file: the entry's fields, then the statistics of its rows. */
export function metricsContent(shown: Readonly<Record<string, unknown>>, summary: StatisticsSummary): object {
  const members = new Map<string, unknown>(Object.entries(shown));
  members.set("Number of examples", summary.examples);
  members.set("Number of tools", numericContent(summary.tools));
  members.set("Json-dumped number of words (proxy for token count)", numericContent(summary.words));
  members.set("Number of turns", numericContent(summary.turns));
  members.set("Temperature", numericContent(summary.temperature));
  for (const [name, field] of summary.fields) members.set(name, fieldContent(field));
  const content = Object.fromEntries(members);
  noteKeyOrder(content, [...members.keys()]);
  return content;
}

/** `data/train.jsonl` has its metrics in `data/train_metrics.json`. */
export function metricsPath(jsonlPath: string): string {
  return besidePath(jsonlPath, "_metrics.json");
}

/**
 * Writes metrics, unless the file there says otherwise: then the new ones go into `…_conflict.json` beside it and the file
 * stays as it is, or is replaced where that is allowed.
 */
export async function settleMetrics(
  file: string,
  content: object,
  options: SettleOptions,
): Promise<MetricsOutcome> {
  const previous = await readMetrics(file);
  if (previous === undefined) {
    await writeMetrics(file, content);
    return { file, status: "written", differences: [] };
  }
  const differences = metricsDifferences(previous, content);
  if (differences.length === 0) {
    if (!options.keepAgreeing) await writeMetrics(file, content);
    return { file, status: options.keepAgreeing ? "unchanged" : "written", differences };
  }
  const conflictFile = file.replace(/\.json$/, "_conflict.json");
  await writeMetrics(conflictFile, content);
  if (options.overwrite) await writeMetrics(file, content);
  return { file, status: options.overwrite ? "overwritten" : "conflict", conflictFile, differences };
}

async function readMetrics(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return loads(text, { allowNonFinite: true });
  } catch (error) {
    throw new DatasetError(
      "DATASET_METRICS_UNREADABLE",
      `The metrics file '${file}' is not JSON (${errorMessage(error)}); correct or delete it.`,
      { cause: error },
    );
  }
}

async function writeMetrics(file: string, content: object): Promise<void> {
  const output = await OutputFile.create(file, { atomic: true });
  await output.write(dumps(content, { indent: INDENT }));
  await output.finish();
}

/** A numeric statistic under the names metrics files use. */
export function numericContent(summary: NumericSummary): object {
  return {
    "Total # non-null values": summary.total,
    Average: new PyFloat(summary.average),
    Min: new PyFloat(summary.min),
    Max: new PyFloat(summary.max),
    "Standard deviation": new PyFloat(summary.standardDeviation),
  };
}

function fieldContent(field: FieldSummary): object {
  return field.kind === "number"
    ? numericContent(field.value)
    : { unique_count: field.value.uniqueCount, total_count: field.value.totalCount };
}
