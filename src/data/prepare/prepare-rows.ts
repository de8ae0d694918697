import { readFile } from "node:fs/promises";
import path from "node:path";
import { isTruthy, pyStr } from "../../base/python/door.ts";
import { dumps, type JsonObject, loads } from "../../base/python/json/door.ts";
import { PyRandom } from "../../base/python/numbers/door.ts";
import { importTypeScript } from "../../config/import-typescript.ts";
import { parseYamlText } from "../../config/yaml/door.ts";
import { DatasetError } from "../errors.ts";
import type { Scope } from "./expression.ts";
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
import { compareCells, neededList } from "./values.ts";

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
  /** The environment, for `env(name)`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Replaces every tokenizer. */
  readonly tokenizer?: Tokenizer;
  /** Stops after this many rows; `expect` does not apply then. */
  readonly limit?: number;
  /** Called for each file of `also` after the last row. */
  readonly onFile?: (name: string, value: unknown) => void;
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
  const { file, limit } = options;
  const text = await readFile(file, "utf8");
  const head = readPrepareHead(text, file, options.args);
  const tokenizers =
    options.tokenizer === undefined ? await loadTokenizers(tokenizerNames(text, head.args)) : undefined;
  const functions = prepareFunctions({
    random: head.seed === undefined || head.seed === null ? undefined : new PyRandom(head.seed as number),
    env: options.env ?? {},
    tokenizer: (name) => options.tokenizer ?? tokenizers?.(name) ?? missingTokenizer(name),
  });
  const spec = compilePrepareSpec(head, file, functions);
  const mapRow = spec.map === undefined ? undefined : await loadMapRow(spec, spec.map);
  const fixed: Scope = { ...spec.args, args: spec.args, ...(await readTables(spec, options)) };
  const progress: Progress = { index: 0, context: fixed };
  let count = 0;
  const shared = await drawn(spec, fixed, candidates(spec, fixed, progress, options));
  read: for await (const candidate of shared) {
    options.signal?.throwIfAborted();
    for (const row of finish(spec, candidate, mapRow)) {
      yield { row, ...candidate };
      if (++count === limit) break read;
    }
  }
  for (const [name, value] of spec.also) options.onFile?.(name, value(progress.context));
  const expected = options.expectRows ?? spec.expect.rows;
  if (limit === undefined && expected !== undefined && expected !== count)
    throw new DatasetError(
      "BENCHMARK_SOURCE",
      `${file}: the sources give ${count} rows, but ${expected} are expected. They may have changed.`,
    );
}

interface Progress {
  /** Source rows so far. */
  index: number;
  /** The names that all rows of the current combination share. */
  context: Scope;
}

/** A source row, or a group of them, that `where` let pass. */
interface Candidate {
  readonly source: JsonObject;
  readonly lets: JsonObject;
  readonly index: number;
  readonly scope: Record<string, unknown>;
}

async function* candidates(
  spec: PrepareSpec,
  fixed: Scope,
  progress: Progress,
  options: PrepareRowsOptions,
): AsyncGenerator<Candidate> {
  for await (const combination of combinations(spec, fixed, options)) {
    const context = { ...fixed, ...combination };
    if (spec.when !== undefined && !isTruthy(spec.when(context))) continue;
    const joined: Record<string, unknown> = {};
    for (const [name, join] of Object.entries(spec.join))
      joined[name] = await readJoin(join, { ...context, ...joined }, options.access);
    progress.context = { ...context, ...joined };
    const found = candidatesOf(spec, progress, options);
    yield* spec.group === undefined ? found : grouped(spec.group, found);
  }
}

async function* candidatesOf(
  spec: PrepareSpec,
  progress: Progress,
  { access, source: replaced }: PrepareRowsOptions,
): AsyncGenerator<Candidate> {
  const { context } = progress;
  for await (const { row: source, position } of sourceRows(spec.sources, context, access, replaced)) {
    const index = progress.index++;
    const scope: Record<string, unknown> = { ...source, ...context, row: source, index, position };
    const lets: JsonObject = {};
    const passes = about(source, index, () => {
      for (const [name, value] of spec.lets) lets[name] = scope[name] = value(scope);
      return spec.where === undefined || isTruthy(spec.where(scope));
    });
    if (passes) yield { source, lets, index, scope };
  }
}

/** One candidate per group, in the order of first appearance, with its sorted members as `rows`. */
async function* grouped(
  { by, sort }: NonNullable<PrepareSpec["group"]>,
  found: AsyncIterable<Candidate>,
): AsyncGenerator<Candidate> {
  const groups = new Map<string, Candidate[]>();
  for await (const candidate of found) {
    const key = about(candidate.source, candidate.index, () => pyStr(by(candidate.scope)));
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [candidate]);
    else members.push(candidate);
  }
  for (const members of groups.values()) {
    const [first] = members as [Candidate, ...Candidate[]];
    if (sort !== undefined) members.sort((a, b) => compareCells(sort(a.scope), sort(b.scope)));
    yield { ...first, scope: { ...first.scope, rows: members.map(({ source }) => source) } };
  }
}

/** The candidates after `sort`, `shuffle` and `sample`, which need all of them in memory. */
async function drawn(
  { sort, shuffle, sample }: PrepareSpec,
  fixed: Scope,
  found: AsyncIterable<Candidate>,
): Promise<AsyncIterable<Candidate> | Iterable<Candidate>> {
  const count = sample?.count(fixed) ?? undefined;
  if (sort === undefined && shuffle === undefined && count === undefined) return found;
  let all: Candidate[] = [];
  for await (const candidate of found) all.push(candidate);
  if (sort !== undefined) all.sort((a, b) => compareCells(sort(a.scope), sort(b.scope)));
  if (shuffle !== undefined) {
    const { seed, where } = shuffle;
    new PyRandom(seed(fixed) as number).shuffle(all);
    if (where !== undefined)
      all = all.filter(({ source, index, scope }) => about(source, index, () => isTruthy(where(scope))));
  }
  if (sample === undefined || count === undefined) return all;
  return new PyRandom(sample.seed(fixed) as number).sample(all, Math.min(count as number, all.length));
}

function finish(
  spec: PrepareSpec,
  { source, index, scope }: Candidate,
  mapRow: MapRow | undefined,
): readonly JsonObject[] {
  return about(source, index, () =>
    mapRow === undefined ? [outputRow(spec, source, scope)] : [mapRow(source, scope) ?? []].flat(),
  ) as JsonObject[];
}

/** Adds the source row to an error. */
function about<T>(source: JsonObject, index: number, action: () => T): T {
  try {
    return action();
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
    const key = pyStr(join.key(scope));
    const value = join.value === undefined ? row : join.value(scope);
    if (!join.all) table[key] = value;
    else if (Object.hasOwn(table, key)) (table[key] as unknown[]).push(value);
    else table[key] = [value];
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
      next.push(...neededList(list).map((value) => ({ ...combination, [name]: value })));
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
      const value = table.format === "python" ? readPythonLiterals(text, table.url) : loads(text);
      read[name] = table.name === undefined ? value : (value as JsonObject)[table.name];
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
