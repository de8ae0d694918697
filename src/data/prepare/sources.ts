import { pyTypeName } from "../../base/python/door.ts";
import { isObject, type JsonObject, loads } from "../../base/python/json/door.ts";
import { csvRecords } from "../../config/formats/door.ts";
import { parseYamlText } from "../../config/yaml/door.ts";
import { DatasetError } from "../errors.ts";

/** A source after its templates were filled in. */
export interface SourceDescription {
  readonly hub?: string;
  readonly config?: string;
  readonly split?: string;
  readonly revision?: string;
  /** One file of the repository. */
  readonly files?: string;
  readonly url?: string;
  readonly file?: string;
  readonly rows?: readonly JsonObject[];
  readonly format?: string;
  readonly header?: readonly string[];
  /** A pattern for the members of an archive or the files of a folder. */
  readonly members?: string;
  readonly order?: string;
  /** `base64` for members that are not text; `sqlite` for the dumps of databases in a folder. */
  readonly encoding?: "base64" | "sqlite";
  /** A missing member is not a mistake. */
  readonly optional?: boolean;
  /** Keeps the file under this name beside the rows, for a server that reads it. */
  readonly save?: string;
}

/** A file that was fetched: rows in the format of its name, text, or an archive. */
export interface OpenedFile {
  readonly name: string;
  readonly lines?: () => AsyncIterable<unknown>;
  text(): Promise<string>;
  members(
    encoding: SourceDescription["encoding"],
    wanted: (name: string) => boolean,
  ): AsyncIterable<{ readonly name: string; readonly text: string }>;
}

/** How sources are reached. The tests have one without a network. */
export interface SourceAccess {
  hubRows(source: SourceDescription & { readonly hub: string }): AsyncIterable<JsonObject>;
  hubConfigs(repository: string): Promise<readonly string[]>;
  open(source: SourceDescription): Promise<OpenedFile>;
}

/** The rows of a source, with `member` where it is an archive. */
export async function* readSource(
  source: SourceDescription,
  access: SourceAccess,
): AsyncGenerator<JsonObject> {
  if (source.rows !== undefined) {
    yield* source.rows;
    return;
  }
  if (source.hub !== undefined && source.files === undefined) {
    yield* access.hubRows({ ...source, hub: source.hub });
    return;
  }
  const opened = await access.open(source);
  if (source.members === undefined) {
    const format = source.format ?? formatOf(opened.name);
    if (opened.lines !== undefined && (format === "jsonl" || format === "parquet" || format === "json"))
      yield* checked(opened.lines(), opened.name);
    else yield* checked(rowsOfText(await opened.text(), format, source), opened.name);
    return;
  }
  const pattern = new RegExp(source.members, "u");
  const found: { name: string; text: string }[] = [];
  for await (const member of opened.members(source.encoding, (name) => pattern.test(name)))
    found.push(member);
  if (source.order === "name") found.sort((a, b) => comparePaths(a.name, b.name));
  if (found.length === 0 && source.optional !== true)
    throw new DatasetError("BENCHMARK_SOURCE", `${opened.name} has no member like ${source.members}.`);
  for (const { name, text } of found) {
    const rows = rowsOfText(text, source.format ?? formatOf(name), source);
    for await (const row of checked(rows, name)) yield { ...row, member: name };
  }
}

/** Folder by folder, as Python sorts paths. */
function comparePaths(left: string, right: string): number {
  const [a, b] = [left.replaceAll("/", "\0"), right.replaceAll("/", "\0")];
  return a < b ? -1 : a > b ? 1 : 0;
}

async function* checked(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
  name: string,
): AsyncGenerator<JsonObject> {
  let number = 0;
  for await (const row of rows) {
    number++;
    if (!isObject(row))
      throw new DatasetError(
        "BENCHMARK_SOURCE",
        `${name}, row ${number} is ${pyTypeName(row)}, not an object.`,
      );
    yield row;
  }
}

function formatOf(name: string): string {
  return /\.(\w+?)(?:\.gz)?$/.exec(name)?.[1] ?? "text";
}

/** The rows of a text: JSON lines, a JSON list, CSV, TSV, or the whole text as one row `{text}`. */
export function rowsOfText(
  text: string,
  format: string,
  { header }: { header?: readonly string[] } = {},
): unknown[] {
  switch (format) {
    case "jsonl":
    case "ndjson":
      return text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => loads(line, { allowNonFinite: true }));
    case "json": {
      const value = loads(text, { allowNonFinite: true });
      return Array.isArray(value) ? value : [value];
    }
    case "yaml":
      return [parseYamlText(text, "the source")];
    case "csv":
    case "tsv":
      return tableRows(text, format, header);
    default:
      return [{ text }];
  }
}

/** Like Python's `csv.DictReader`; with a given `header`, rows of another width are left out. */
function tableRows(text: string, format: string, given: readonly string[] | undefined): JsonObject[] {
  const records =
    format === "tsv"
      ? text
          .split(/\r?\n/)
          .filter((line) => line !== "")
          .map((line) => line.split("\t"))
      : csvRecords(text.replace(/^\uFEFF/, ""));
  const rows = records.filter((record) => record.length > 0);
  const header = given ?? rows.shift() ?? [];
  return rows
    .filter((record) => given === undefined || record.length === given.length)
    .map((record) => Object.fromEntries(header.map((name, index) => [name, record[index] ?? null])));
}
