import { readFile } from "node:fs/promises";
import path from "node:path";
import { dumps } from "../../base/python/json/json-dumps.ts";
import { loads } from "../../base/python/json/json-loads.ts";
import type { JsonObject } from "../../base/python/json/json-object.ts";
import { PyRandom } from "../../base/python/numbers/random.ts";
import { pyStr } from "../../base/python/repr.ts";
import { isTruthy } from "../../base/python/truth.ts";
import { importTypeScript } from "../../config/import-typescript.ts";
import { parseYamlText } from "../../config/yaml/read.ts";
import { DatasetError } from "../errors.ts";
import { listOf, type Scope } from "./expression.ts";
import { prepareFunctions, type Tokenizer } from "./functions.ts";
import { readPythonLiterals } from "./python-literals.ts";
import { readSource, type SourceAccess, type SourceDescription } from "./sources.ts";
import {
  compilePrepareSpec,
  type JoinSpec,
  type PrepareSpec,
  readPrepareHead,
  type SourceSpec,
} from "./spec.ts";
import { loadTokenizers, tokenizerNames } from "./tokenizers.ts";

export interface PrepareRowsOptions {
  /** The prepare.yaml. */
  readonly file: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly access: SourceAccess;
  /** Replaces `source`: a file of the user. */
  readonly source?: SourceDescription;
  /** Replace tables of the same name. */
  readonly tables?: Readonly<Record<string, unknown>>;
  /** Replace lists of `foreach` of the same name. */
  readonly foreach?: Readonly<Record<string, readonly unknown[]>>;
  /** Replaces `expect`. */
  readonly expectRows?: number;
  /** Replaces every tokenizer. */
  readonly tokenizer?: Tokenizer;
  /** Stops after this many rows; `expect` does not apply then. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** One row, and how it was made. */
export interface PreparedRow {
  readonly row: JsonObject;
  readonly source: JsonObject;
  /** The values of `let`. */
  readonly lets: JsonObject;
  /** Number of the source row, from 0. */
  readonly index: number;
}

/** `mapRow` of a `row.ts`: one row, several, or none. */
type MapRow = (row: JsonObject, context: Scope) => JsonObject | readonly JsonObject[] | null;

/** Makes the rows of a benchmark as its prepare.yaml says. */
export async function* prepareRows(options: PrepareRowsOptions): AsyncGenerator<PreparedRow> {
  const { file, access, limit } = options;
  const text = await readFile(file, "utf8");
  const head = readPrepareHead(text, file, options.args);
  const tokenizers =
    options.tokenizer === undefined ? await loadTokenizers(tokenizerNames(text, head.args)) : undefined;
  const functions = prepareFunctions({
    random: head.seed === undefined || head.seed === null ? undefined : new PyRandom(head.seed as number),
    tokenizer: (name) => options.tokenizer ?? tokenizers?.(name) ?? missingTokenizer(name),
  });
  const spec = compilePrepareSpec(head, file, functions);
  const mapRow = spec.map === undefined ? undefined : await loadMapRow(spec, spec.map);
  const fixed: Scope = { ...spec.args, args: spec.args, ...(await readTables(spec, options)) };
  const counter = { index: 0 };
  let count = 0;
  for await (const combination of combinations(spec, fixed, options)) {
    const context = { ...fixed, ...combination };
    if (spec.when !== undefined && !isTruthy(spec.when(context))) continue;
    const joined: Record<string, unknown> = {};
    for (const [name, join] of Object.entries(spec.join))
      joined[name] = await readJoin(join, { ...context, ...joined }, access);
    for await (const prepared of rowsOf(spec, { ...context, ...joined }, counter, options, mapRow)) {
      options.signal?.throwIfAborted();
      yield prepared;
      if (++count === limit) return;
    }
  }
  const expected = options.expectRows ?? spec.expect.rows;
  if (limit === undefined && expected !== undefined && expected !== count)
    throw new DatasetError(
      "BENCHMARK_SOURCE",
      `${file}: the sources give ${count} rows, but ${expected} are expected. They may have changed.`,
    );
}

async function* rowsOf(
  spec: PrepareSpec,
  context: Scope,
  counter: { index: number },
  { access, source: replaced }: PrepareRowsOptions,
  mapRow: MapRow | undefined,
): AsyncGenerator<PreparedRow> {
  for await (const { row: source, position } of sourceRows(spec.sources, context, access, replaced)) {
    const index = counter.index++;
    try {
      const scope: Record<string, unknown> = { ...source, ...context, row: source, index, position };
      const lets: JsonObject = {};
      for (const [name, value] of spec.lets) lets[name] = scope[name] = value(scope);
      if (spec.where !== undefined && !isTruthy(spec.where(scope))) continue;
      if (mapRow === undefined) yield { row: outputRow(spec, source, scope), source, lets, index };
      else
        for (const row of [mapRow(source, scope) ?? []].flat())
          yield { row: row as JsonObject, source, lets, index };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const code = error instanceof DatasetError ? error.code : "BENCHMARK_SPEC";
      throw new DatasetError(
        code as "BENCHMARK_SPEC",
        `${error.message} Source row ${index + 1}: ${excerpt(source)}`,
        { cause: error },
      );
    }
  }
}

const MAX_EXCERPT = 300;

function excerpt(row: JsonObject): string {
  const text = dumps(row, { ensureAscii: false });
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}

function outputRow(
  { keep, drop, fields, optional }: PrepareSpec,
  source: JsonObject,
  scope: Scope,
): JsonObject {
  const row: JsonObject = keep === "all" ? { ...source } : {};
  if (keep !== "all") for (const name of keep) row[name] = source[name] ?? null;
  for (const name of drop) delete row[name];
  Object.assign(row, fields?.(scope));
  for (const name of optional) if (!isTruthy(row[name])) delete row[name];
  return row;
}

async function* sourceRows(
  sources: readonly SourceSpec[],
  context: Scope,
  access: SourceAccess,
  replaced?: SourceDescription,
): AsyncGenerator<{ row: JsonObject; position: number }> {
  for (const source of sources) {
    if (source.when !== undefined && !isTruthy(source.when(context))) continue;
    const added = source.add?.(context) as JsonObject | undefined;
    const description = inFile(source.value(context) as SourceDescription, replaced);
    let position = 0;
    for await (const row of readSource(description, access)) {
      yield { row: added === undefined ? row : { ...row, ...added }, position: position++ };
    }
  }
}

/** The same data in a file of the user, which may also be a member of the published archive. */
function inFile(published: SourceDescription, replaced: SourceDescription | undefined): SourceDescription {
  if (replaced?.file === undefined) return published;
  const { members, order, format, header } = published;
  if (/\.(?:tar|zip)$/.test(replaced.file)) return { file: replaced.file, members, order, format, header };
  return { file: replaced.file, ...(replaced.file.endsWith(`.${format}`) && { format, header }) };
}

/** The last row of a key wins. */
async function readJoin(join: JoinSpec, context: Scope, access: SourceAccess): Promise<JsonObject> {
  const table: JsonObject = {};
  if (join.when !== undefined && !isTruthy(join.when(context))) return table;
  for await (const { row, position } of sourceRows(join.sources, context, access)) {
    const scope: Record<string, unknown> = { ...row, ...context, row, position };
    for (const [name, value] of join.lets) scope[name] = value(scope);
    table[pyStr(join.key(scope))] = join.value === undefined ? row : join.value(scope);
  }
  return table;
}

async function* combinations(
  { foreach, sources }: PrepareSpec,
  context: Scope,
  { foreach: given, access }: PrepareRowsOptions,
): AsyncGenerator<Scope> {
  let all: Scope[] = [{}];
  for (const [name, values] of foreach) {
    const next: Scope[] = [];
    for (const combination of all) {
      const scope = { ...context, ...combination };
      const list =
        given?.[name] ?? (values(scope) as unknown[] | null) ?? (await configsOf(sources, scope, access));
      next.push(...listOf(list).map((value) => ({ ...combination, [name]: value })));
    }
    all = next;
  }
  yield* all;
}

/** A null list of `foreach` means all configurations of the dataset, in the order of the hub. */
async function configsOf(
  sources: readonly SourceSpec[],
  scope: Scope,
  access: SourceAccess,
): Promise<readonly string[]> {
  // The name itself is not known yet; only the repository is wanted.
  const anyName = new Proxy(scope as Record<string, unknown>, {
    get: (target, key) => (key in target ? target[key as string] : ""),
  });
  const { hub } = (sources[0]?.value(anyName) ?? {}) as SourceDescription;
  if (hub === undefined)
    throw new DatasetError(
      "BENCHMARK_SPEC",
      `${sources[0]?.where}: a null list of \`foreach\` needs a hub source.`,
    );
  return access.hubConfigs(hub);
}

async function readTables(
  { tables, directory }: PrepareSpec,
  { tables: given, access }: PrepareRowsOptions,
): Promise<Scope> {
  const read: Record<string, unknown> = {};
  for (const [name, table] of Object.entries(tables)) {
    if (given !== undefined && Object.hasOwn(given, name)) read[name] = given[name];
    else if (table.file !== undefined) {
      const text = await readFile(path.join(directory, table.file), "utf8");
      read[name] = table.file.endsWith(".json")
        ? loads(text)
        : table.file.endsWith(".yaml")
          ? parseYamlText(text, table.file)
          : text;
    } else if (table.url !== undefined) {
      const text = await (await access.open({ url: table.url })).text();
      read[name] = table.format === "python" ? readPythonLiterals(text, table.url) : loads(text);
    } else read[name] = table.value;
  }
  return read;
}

async function loadMapRow({ directory, file }: PrepareSpec, map: string): Promise<MapRow> {
  const { mapRow } = await importTypeScript(path.resolve(directory, map));
  if (typeof mapRow === "function") return mapRow as MapRow;
  throw new DatasetError("BENCHMARK_SPEC", `${file}: ${map} exports no function 'mapRow'.`);
}

function missingTokenizer(name: string): never {
  throw new Error(`the tokenizer '${name}' is not available here; there are o200k_base and cl100k_base`);
}
