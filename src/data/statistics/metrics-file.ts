import { readFile } from "node:fs/promises";
import { errorMessage } from "../../base/errors.ts";
import { dumps, isObject, loads, noteKeyOrder } from "../../base/python/json/door.ts";
import { isPyFloat, PyFloat } from "../../base/python/numbers/door.ts";
import { DatasetError } from "../errors.ts";
import { besidePath, writeOutput } from "../output-file.ts";
import type { NumericSummary } from "./numeric-statistic.ts";
import type { FieldSummary, StatisticsSummary } from "./statistics.ts";

const INDENT = 4;

/** The result of writing a metrics file. */
export interface MetricsOutcome {
  file: string;
  status: "written" | "unchanged" | "conflict" | "overwritten";
  /** The file with the new values, if they differ from the old ones. */
  conflictFile?: string;
  /** The differences between old and new values. */
  differences: string[];
}

export interface SettleOptions {
  /** Replace a file with other values. */
  overwrite?: boolean;
  /** Keep a file with the same values; by default it is written again. */
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

/** The metrics of `data/train.jsonl` are in `data/train_metrics.json`. */
export function metricsPath(jsonlPath: string): string {
  return besidePath(jsonlPath, "_metrics.json");
}

/**
 * Writes a metrics file. If the file exists with other values, the new values go to `…_conflict.json` beside it, and the
 * file is replaced only with `overwrite`.
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
  const text = dumps(content, { indent: INDENT });
  await writeOutput(file, { atomic: true }, (output) => output.write(text));
}

/** A numeric statistic with the key names of metrics files. */
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

const TOLERANCE_FROM_ONE = 5e-3;
const TOLERANCE_BELOW_ONE = 5e-4;
const MAX_DIFFERENCES = 20;

/**
 * The differences between two metrics, as lines of text. Both values must come from `loads`, which keeps exact numbers. New
 * keys are not a difference, and NaN equals NaN.
 */
export function metricsDifferences(previous: unknown, current: unknown): string[] {
  const differences: string[] = [];
  compare(previous, current, "", differences);
  return differences.slice(0, MAX_DIFFERENCES);
}

function compare(previous: unknown, current: unknown, path: string, differences: string[]): void {
  if (isObject(previous) && isObject(current)) {
    for (const [key, value] of Object.entries(previous)) {
      const place = path === "" ? key : `${path} -> ${key}`;
      if (Object.hasOwn(current, key)) compare(value, current[key], place, differences);
      else differences.push(`${place}: was ${show(value)}, is gone`);
    }
    return;
  }
  if (Array.isArray(previous) && Array.isArray(current)) {
    if (!sameMembers(previous, current))
      differences.push(`${path}: was ${show(previous)}, is ${show(current)}`);
    return;
  }
  const agree =
    isPyFloat(previous) && isPyFloat(current)
      ? closeEnough(Number(previous), Number(current))
      : plainlyEqual(previous, current);
  if (!agree) differences.push(`${path}: was ${show(previous)}, is ${show(current)}`);
}

function sameMembers(previous: unknown[], current: unknown[]): boolean {
  if (previous.length !== current.length) return false;
  const unmatched = [...current];
  for (const item of previous) {
    const index = unmatched.findIndex((candidate) => metricsDifferences(item, candidate).length === 0);
    if (index === -1) return false;
    unmatched.splice(index, 1);
  }
  return true;
}

function closeEnough(previous: number, current: number): boolean {
  if (Object.is(previous, current) || previous === current) return true;
  const magnitude = Math.max(Math.abs(previous), Math.abs(current));
  return Math.abs(previous - current) <= (magnitude >= 1 ? TOLERANCE_FROM_ONE : TOLERANCE_BELOW_ONE);
}

/** Python's `==` for scalars: numbers and booleans compare by value. */
function plainlyEqual(previous: unknown, current: unknown): boolean {
  if (isNumeric(previous) && isNumeric(current)) {
    return typeof previous === "bigint" || typeof current === "bigint"
      ? previous === current
      : Number(previous) === Number(current);
  }
  return previous === current;
}

function isNumeric(value: unknown): boolean {
  return (
    typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" || isPyFloat(value)
  );
}

function show(value: unknown): string {
  const text = dumps(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
