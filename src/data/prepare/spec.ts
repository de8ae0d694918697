import { readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { isTruthy } from "../../base/python/door.ts";
import { suggest } from "../../base/suggest.ts";
import { type ConfigNode, type DictNode, plainFromNode } from "../../config/light-door.ts";
import { readYaml } from "../../config/yaml/door.ts";
import { DatasetError } from "../errors.ts";
import {
  compileExpression,
  compileTemplate,
  type Evaluate,
  type FunctionTable,
  type Scope,
} from "./expression.ts";
import { prepareFunctions } from "./functions.ts";
import { neededList } from "./values.ts";

/** One place that rows come from. All values are templates or expressions. */
export interface SourceSpec {
  readonly value: Evaluate;
  readonly add: Evaluate | undefined;
  readonly when: Evaluate | undefined;
  readonly where: string;
}

export interface JoinSpec {
  readonly sources: readonly SourceSpec[];
  readonly when: Evaluate | undefined;
  readonly lets: readonly (readonly [name: string, value: Evaluate])[];
  readonly key: Evaluate;
  readonly value: Evaluate | undefined;
  /** Keeps a list of all values of a key, not the last one. */
  readonly all: boolean;
}

export interface TableSpec {
  /** The value itself, or `undefined` if it is in a file or at an address. */
  readonly value: unknown;
  readonly file?: string;
  readonly url?: string;
  readonly format?: string;
  /** One name of a file of Python literals. */
  readonly name?: string;
}

/** What a listing says about a benchmark. */
export interface BenchmarkFacts {
  /** Rows of the published data. */
  readonly rows?: number;
  /** Its licence. */
  readonly license?: string;
  /** What a run needs besides a model: a token, a judge, an image, a GPU. */
  readonly needs?: readonly string[];
}

/** A prepare.yaml, ready to run. */
export interface PrepareSpec {
  readonly file: string;
  readonly directory: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sources: readonly SourceSpec[];
  readonly foreach: readonly (readonly [name: string, values: Evaluate])[];
  readonly when: Evaluate | undefined;
  readonly tables: Readonly<Record<string, TableSpec>>;
  readonly join: Readonly<Record<string, JoinSpec>>;
  readonly lets: readonly (readonly [name: string, value: Evaluate])[];
  readonly where: Evaluate | undefined;
  readonly keep: "all" | readonly string[];
  readonly drop: readonly string[];
  readonly fields: Evaluate | undefined;
  readonly optional: readonly string[];
  /** Source rows that become one row each, with the members as `rows`. */
  readonly group: { readonly by: Evaluate; readonly sort: Evaluate | undefined } | undefined;
  /** Sorts all rows by this value. */
  readonly sort: Evaluate | undefined;
  /** Shuffles all rows; `where` is a condition on each of them afterwards. */
  readonly shuffle: { readonly seed: Evaluate; readonly where: Evaluate | undefined } | undefined;
  /** Draws some of all rows; a null count means all. */
  readonly sample: { readonly count: Evaluate; readonly seed: Evaluate } | undefined;
  readonly expect: { readonly rows?: number; readonly sha256?: string };
  readonly about: BenchmarkFacts;
  /** Further JSON files beside the rows, by name, made from tables and joins. */
  readonly also: readonly (readonly [name: string, value: Evaluate])[];
  readonly map: string | undefined;
}

const KEYS = ["about", "args", "source", "foreach", "when", "tables", "join", "let", "where", "group", "sort", "shuffle", "sample", "keep", "drop", "fields", "optional", "seed", "expect", "also", "map"]; // biome-ignore format: a table

/** Checks a prepare.yaml without running it. */
export function readPrepareSpec(file: string): PrepareSpec {
  const functions = prepareFunctions({
    random: undefined,
    env: {},
    tokenizer: () => ({ encode: () => [], decode: () => "" }),
  });
  return compilePrepareSpec(readPrepareHead(readFileSync(file, "utf8"), file, {}), file, functions);
}

/** The parts of a prepare.yaml that are needed before its functions exist. */
export interface PrepareHead {
  readonly root: DictNode;
  readonly args: Readonly<Record<string, unknown>>;
  readonly seed: unknown;
}

/** Reads the text of a prepare.yaml and its arguments; `given` replace the defaults. */
export function readPrepareHead(
  text: string,
  file: string,
  given: Readonly<Record<string, unknown>>,
): PrepareHead {
  const root = readYaml(text, { kind: "file", name: file });
  for (const [key, node] of root.entries) {
    if (KEYS.includes(String(key))) continue;
    throw problem(node, `unknown key '${String(key)}'${suggestion(String(key), KEYS)}`);
  }
  const declared = (plainOf(root, "args") ?? {}) as Record<string, unknown>;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(declared, name)) continue;
    const known = Object.keys(declared);
    const listed = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
    throw new DatasetError(
      "BENCHMARK_ARGUMENT",
      `${file}: there is no argument '${name}'; ${listed}${suggestion(name, known) || "."}`,
    );
  }
  const args = { ...declared, ...given };
  const seed = plainOf(root, "seed");
  return {
    root,
    args,
    seed: typeof seed === "string" ? optionalValue(root.entries.get("seed"), {})?.({ ...args, args }) : seed,
  };
}

/** Compiles the rest. A mistake is reported with its line and column. */
export function compilePrepareSpec(
  { root, args }: PrepareHead,
  file: string,
  functions: FunctionTable,
): PrepareSpec {
  const at = (key: string) => root.entries.get(key);
  const spec: PrepareSpec = {
    file,
    directory: path.dirname(file),
    args,
    sources: sourcesOf(at("source"), functions),
    foreach: entriesOf(at("foreach")).map(([name, node]) => [name, value(node, functions)]),
    when: expressionOf(at("when"), functions),
    tables: Object.fromEntries(entriesOf(at("tables")).map(([name, node]) => [name, tableOf(node)])),
    join: Object.fromEntries(entriesOf(at("join")).map(([name, node]) => [name, joinOf(node, functions)])),
    lets: entriesOf(at("let")).map(([name, node]) => [name, value(node, functions)]),
    where: expressionOf(at("where"), functions),
    keep: (plainOf(root, "keep") ?? []) as "all" | string[],
    drop: (plainOf(root, "drop") ?? []) as string[],
    fields: optionalValue(at("fields"), functions),
    optional: (plainOf(root, "optional") ?? []) as string[],
    group: withMembers(at("group"), ["by", "sort"], ({ by, sort }, node) => ({
      by: needed(expressionOf(by, functions), node, "by"),
      sort: expressionOf(sort, functions),
    })),
    sort: expressionOf(at("sort"), functions),
    shuffle: withMembers(at("shuffle"), ["seed", "where"], ({ seed, where }, node) => ({
      seed: needed(optionalValue(seed, functions), node, "seed"),
      where: expressionOf(where, functions),
    })),
    sample: withMembers(at("sample"), ["count", "seed"], ({ count, seed }, node) => ({
      count: needed(optionalValue(count, functions), node, "count"),
      seed: needed(optionalValue(seed, functions), node, "seed"),
    })),
    expect: expectOf(plainOf(root, "expect")),
    about: (plainOf(root, "about") ?? {}) as BenchmarkFacts,
    also: entriesOf(at("also")).map(([name, node]) => {
      if (!/^[\w.-]+\.json$/.test(name)) throw problem(node, `'${name}' is not the name of a JSON file`);
      return [name, value(node, functions)];
    }),
    map: plainOf(root, "map") as string | undefined,
  };
  if (spec.sources.length === 0) throw problem(root, "`source` is missing");
  if (spec.fields === undefined && spec.map === undefined && spec.keep.length === 0)
    throw problem(root, "one of `fields`, `keep` and `map` is needed");
  return spec;
}

function withMembers<T>(
  node: ConfigNode | undefined,
  known: readonly string[],
  make: (members: Readonly<Record<string, ConfigNode | undefined>>, node: ConfigNode) => T,
): T | undefined {
  if (node === undefined) return undefined;
  const members = entriesOf(node);
  for (const [key, member] of members)
    if (!known.includes(key)) throw problem(member, `unknown key '${key}'${suggestion(key, known)}`);
  return make(Object.fromEntries(members), node);
}

function needed(value: Evaluate | undefined, node: ConfigNode, key: string): Evaluate {
  if (value === undefined) throw problem(node, `\`${key}\` is missing`);
  return value;
}

function expectOf(given: unknown): { rows?: number; sha256?: string } {
  return typeof given === "number" ? { rows: given } : ((given ?? {}) as { rows?: number; sha256?: string });
}

const SOURCE_KEYS = ["hub", "url", "file", "rows", "config", "split", "revision", "files", "format", "header", "members", "order", "encoding", "optional", "save", "add", "when"]; // biome-ignore format: a table

function sourcesOf(node: ConfigNode | undefined, functions: FunctionTable): SourceSpec[] {
  if (node === undefined) return [];
  const nodes = node.kind === "list" ? node.items : [node];
  return nodes.map((item) => {
    if (item.kind !== "dict")
      throw problem(item, "a source is a mapping such as `{hub: organization/name, split: test}`");
    for (const [key, member] of item.entries)
      if (!SOURCE_KEYS.includes(String(key)))
        throw problem(member, `a source has no '${String(key)}'${suggestion(String(key), SOURCE_KEYS)}`);
    const kinds = ["hub", "url", "file", "rows"].filter((kind) => item.entries.has(kind));
    if (kinds.length !== 1) throw problem(item, "a source has one of `hub`, `url`, `file` and `rows`");
    const described = new Map([...item.entries].filter(([key]) => key !== "add" && key !== "when"));
    return {
      value: value({ ...item, entries: described }, functions),
      add: optionalValue(item.entries.get("add"), functions),
      when: expressionOf(item.entries.get("when"), functions),
      where: place(item),
    };
  });
}

function joinOf(node: ConfigNode, functions: FunctionTable): JoinSpec {
  const entries = new Map(entriesOf(node));
  for (const [key, member] of entries)
    if (!["source", "key", "value", "let", "when", "all"].includes(key))
      throw problem(member, `a join has no '${key}'`);
  const key = expressionOf(entries.get("key"), functions);
  if (key === undefined) throw problem(node, "a join needs a `key`");
  return {
    sources: sourcesOf(entries.get("source"), functions),
    when: expressionOf(entries.get("when"), functions),
    lets: entriesOf(entries.get("let")).map(([name, member]) => [name, value(member, functions)]),
    key,
    value: expressionOf(entries.get("value"), functions),
    all: entries.has("all"),
  };
}

/** A text that names a file beside the YAML, `{url, format}`, or the table itself. */
function tableOf(node: ConfigNode): TableSpec {
  const plain = plainFromNode(node) as { url?: string; format?: string; name?: string } | string;
  if (typeof plain === "string" && /^[\w./-]+\.(?:json|txt|yaml)$/.test(plain))
    return { value: undefined, file: plain };
  if (typeof plain === "object" && plain !== null && typeof plain.url === "string")
    return { value: undefined, url: plain.url, format: plain.format, name: plain.name };
  return { value: plain };
}

function entriesOf(node: ConfigNode | undefined): [string, ConfigNode][] {
  if (node === undefined) return [];
  if (node.kind !== "dict") throw problem(node, "a mapping is needed here");
  return [...node.entries].map(([key, member]) => [String(key), member]);
}

function plainOf(root: DictNode, key: string): unknown {
  const node = root.entries.get(key);
  return node === undefined ? undefined : plainFromNode(node);
}

function optionalValue(node: ConfigNode | undefined, functions: FunctionTable): Evaluate | undefined {
  return node === undefined ? undefined : value(node, functions);
}

/** A bare expression, with or without `= ` before it. */
function expressionOf(node: ConfigNode | undefined, functions: FunctionTable): Evaluate | undefined {
  if (node === undefined) return undefined;
  if (node.kind !== "scalar") throw problem(node, "an expression is needed here");
  return located(node, () => compileExpression(String(node.value).replace(/^= /, ""), functions));
}

/** `= …` is an expression, another text a template; mappings and lists are built from their members. */
function value(node: ConfigNode, functions: FunctionTable): Evaluate {
  if (node.kind === "list") {
    const items = node.items.map((item) => value(item, functions));
    return (scope) => items.map((item) => item(scope));
  }
  if (node.kind === "dict") {
    if (node.entries.has("each")) return listForm(node, functions);
    const pairs = node.entries.size === 1 ? node.entries.get("pairs") : undefined;
    if (pairs !== undefined) return pairsForm(value(pairs, functions));
    const members = [...node.entries].map(
      ([key, member]) => [String(key), value(member, functions)] as const,
    );
    return (scope) => {
      const object: Record<string, unknown> = {};
      for (const [key, member] of members) object[key] = member(scope);
      return object;
    };
  }
  const { value: text } = node;
  if (typeof text !== "string") return () => text;
  return located(node, () =>
    text.startsWith("= ") ? compileExpression(text.slice(2), functions) : compileTemplate(text, functions),
  );
}

/** `{each: list, as: name, where?: condition, value: …}`, with `n` counting from 1. */
function listForm(node: DictNode, functions: FunctionTable): Evaluate {
  const at = (key: string) => node.entries.get(key);
  const each = expressionOf(at("each"), functions);
  const nameNode = at("as");
  const item = at("value");
  if (each === undefined || item === undefined) throw problem(node, "`each` needs `value`");
  const name = nameNode === undefined ? "item" : String(plainFromNode(nameNode));
  const where = expressionOf(at("where"), functions);
  const make = value(item, functions);
  return (scope) => {
    const made: unknown[] = [];
    for (const member of neededList(each(scope))) {
      const inner: Scope = { ...scope, [name]: member, n: made.length + 1 };
      if (where === undefined || isTruthy(where(inner))) made.push(make(inner));
    }
    return made;
  };
}

/** `{pairs: list}`: an object from a list of pairs of a name and a value. */
function pairsForm(pairs: Evaluate): Evaluate {
  return (scope) => Object.fromEntries(neededList(pairs(scope)) as [string, unknown][]);
}

/** Adds the position to errors, when the text is compiled and when it is evaluated. */
function located(node: ConfigNode, compile: () => Evaluate): Evaluate {
  let evaluate: Evaluate;
  try {
    evaluate = compile();
  } catch (error) {
    throw problem(node, errorMessage(error));
  }
  return (scope) => {
    try {
      return evaluate(scope);
    } catch (error) {
      throw error instanceof DatasetError ? error : problem(node, errorMessage(error));
    }
  };
}

function place({ origin }: ConfigNode): string {
  return `${origin.source.name}:${origin.line}:${origin.column}`;
}

function problem(node: ConfigNode, message: string): DatasetError {
  return new DatasetError("BENCHMARK_SPEC", `${place(node)}: ${message}.`);
}

function suggestion(name: string, known: readonly string[]): string {
  const nearest = suggest(name, known);
  return nearest === undefined ? "" : `; did you mean '${nearest}'?`;
}
