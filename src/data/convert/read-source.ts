import { stat } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { pyTypeName } from "../../base/python/door.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { csvRecords } from "../../config/formats/door.ts";
import { closestPath, findExistingPath } from "../../config/paths.ts";
import { DatasetError } from "../errors.ts";
import { parseExactRow, readTextLines } from "../lines.ts";
import { remoteSources } from "../prepare/remote-sources.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { containerOf } from "./format-names.ts";

/** Tables and JSON texts are read into memory. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;

/** How sources are reached. */
export interface ConvertAccess {
  readonly hub: HubAccess;
  /** The folder for downloads. */
  readonly directory: string;
  /** Where files are looked for, in order. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** A row of a source with its place, or why it cannot be read. */
export type SourceRow = { readonly where: string } & (
  | { readonly row: JsonObject }
  | { readonly problem: string }
);

/** `hub:owner/name`, `hub:owner/name@split` or `hub:owner/name:config@split`. */
export interface HubName {
  readonly hub: string;
  readonly config?: string;
  readonly split?: string;
}

const HUB_NAME = /^hub:([\w.-]+\/[\w.-]+)(?::([^@]+))?(?:@(.+))?$/;

/** The parts of a name of a dataset on the hub; undefined for the name of a file. */
export function parseHubName(name: string): HubName | undefined {
  if (!name.startsWith("hub:")) return undefined;
  const [, hub, config, split] = HUB_NAME.exec(name) ?? [];
  if (hub === undefined)
    throw new DatasetError(
      "DATASET_ARGUMENTS_INVALID",
      `'${name}' does not name a dataset on the hub. Write hub:OWNER/NAME@SPLIT, or hub:OWNER/NAME:CONFIG@SPLIT.`,
    );
  return { hub, config, split };
}

const TABLES: Readonly<Record<string, string>> = { csv: ",", tsv: "\t" };

/** The file with this name below the roots; the error names the nearest one. */
export async function sourceFile(name: string, { roots }: ConvertAccess): Promise<string> {
  const found = findExistingPath(name, [...roots]);
  if (found === undefined) {
    const close = closestPath(name, [...roots]);
    throw new DatasetError(
      "DATASET_MISSING",
      `There is no file '${name}'.${close === undefined ? "" : ` Did you mean '${close}'?`}`,
    );
  }
  if (!(await stat(found)).isFile()) throw new DatasetError("DATASET_FILE", `'${name}' is not a file.`);
  return found;
}

/** The rows of a file or of a split on the hub. */
export async function* readSourceRows(name: string, access: ConvertAccess): AsyncGenerator<SourceRow> {
  const hub = parseHubName(name);
  if (hub !== undefined) {
    yield* hubRows(hub, name, access);
    return;
  }
  const file = await sourceFile(name, access);
  const container = containerOf(name);
  if (container === "jsonl" && !name.endsWith(".gz")) yield* jsonLines(file, name, access.signal);
  else if (container === "csv" || container === "tsv") yield* tableRows(file, name, container, access);
  else if (container === "json" || container === "jsonl" || container === "parquet")
    yield* numbered(openedRows(file, access), name);
  else
    throw new DatasetError(
      "DATASET_ARGUMENTS_INVALID",
      `'${name}' has no known ending: .jsonl, .json, .csv, .tsv, .parquet, or .yaml for a task of lm-eval.`,
    );
}

async function* hubRows(hub: HubName, name: string, access: ConvertAccess): AsyncGenerator<SourceRow> {
  if (hub.split === undefined)
    throw new DatasetError(
      "DATASET_ARGUMENTS_INVALID",
      `'${name}' does not say which split. Add it, such as ${name}@test.`,
    );
  yield* numbered(remoteSources(access).hubRows({ ...hub, hub: hub.hub }), name);
}

async function* openedRows(file: string, access: ConvertAccess): AsyncGenerator<unknown> {
  const opened = await remoteSources(access).open({ file });
  if (opened.lines !== undefined) yield* opened.lines();
}

async function* numbered(rows: AsyncIterable<unknown>, name: string): AsyncGenerator<SourceRow> {
  let number = 0;
  for await (const row of rows) {
    const where = `${name}, row ${++number}`;
    yield isObject(row) ? { where, row } : { where, problem: `it is ${pyTypeName(row)}, not an object` };
  }
}

async function* jsonLines(file: string, name: string, signal: AbortSignal): AsyncGenerator<SourceRow> {
  let number = 0;
  for await (const line of readTextLines(file, signal)) {
    const where = `${name}:${++number}`;
    if (line?.trim() === "") continue;
    let row: JsonObject;
    try {
      row = parseExactRow(line, where);
    } catch (error) {
      yield { where, problem: errorMessage(error).replace(`${where}: `, "").replace(/\.$/, "") };
      continue;
    }
    yield { where, row };
  }
}

async function* tableRows(
  file: string,
  name: string,
  container: string,
  access: ConvertAccess,
): AsyncGenerator<SourceRow> {
  if ((await stat(file)).size > MAX_TEXT_BYTES)
    throw new DatasetError("DATASET_FILE", `'${name}' is too large for a table; use JSON lines or parquet.`);
  const opened = await remoteSources(access).open({ file });
  const text = (await opened.text()).replace(/^\uFEFF/, "");
  const [header, ...records] = csvRecords(text, TABLES[container]);
  if (header === undefined || header.length === 0)
    throw new DatasetError("DATASET_ROW_INVALID", `${name}:1: the first line has no names of columns.`);
  let line = 1 + linesOf(header);
  for (const record of records) {
    const where = `${name}:${line}`;
    line += linesOf(record);
    if (record.length === 0) continue;
    yield record.length === header.length
      ? {
          where,
          row: Object.fromEntries(header.map((column, index) => [column.trim(), record[index] ?? ""])),
        }
      : { where, problem: `it has ${record.length} cells, but ${header.length} columns have a name` };
  }
}

/** Lines of the file that a record takes; cells in quotes may hold line breaks. */
function linesOf(record: readonly string[]): number {
  return 1 + record.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
}

/** The name of a source without its folders, for messages. */
export function shortName(name: string): string {
  return name.startsWith("hub:") ? name : path.basename(name);
}
