import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { loads } from "../../src/base/python/json/json-loads.ts";
import { isObject, type JsonObject } from "../../src/base/python/json/json-object.ts";
import { toPlainNumbers } from "../../src/base/python/numbers/py-float.ts";
import { isTruthy } from "../../src/base/python/truth.ts";
import { splitWords } from "../../src/base/python/whitespace.ts";
import { installRoot } from "../../src/config/paths.ts";
import { parseYamlText } from "../../src/config/yaml/read.ts";
import { agentsOf } from "../../src/data/entry.ts";
import { asDouble } from "../../src/data/prepare/functions.ts";
import { prepareRows } from "../../src/data/prepare/prepare-rows.ts";
import type { OpenedFile, SourceAccess, SourceDescription } from "../../src/data/prepare/sources.ts";
import { dumpSqlite } from "../../src/data/prepare/sqlite-dump.ts";
import { difference } from "./difference.ts";
import type { Suite } from "./suite.ts";

interface HubSource {
  kind: "hub";
  repo_id: string;
  config?: string;
  split?: string;
  revision?: string;
  files?: string;
  columns?: Record<string, string>;
  rows?: JsonObject[];
  configs?: string[];
  archive?: string;
  members?: { path: string; text: string }[];
}

interface FileSource {
  /** The statements that make a SQLite database. */
  sql?: string;
  kind: "url" | "file";
  url?: string;
  path?: string;
  text?: string;
  members?: { path: string; text: string }[];
}

interface BenchmarkCase {
  benchmark: string;
  source: (HubSource | FileSource)[];
  prepare_script_args: JsonObject;
  tables?: JsonObject;
  limits?: { expect?: number; subjects?: string[]; subsets?: string[] } & JsonObject;
  environment?: Record<string, string>;
  now?: string;
  tokenizer?: unknown;
  expected_rows: JsonObject[];
  /** Other files by their path. */
  also_written?: Record<string, unknown>;
}

/** Prepares the made-up sources of each case (a file, or every `case*.json` below a folder) and compares the rows. */
export const suite: Suite = async (given) => {
  const files = statSync(given).isDirectory() ? caseFiles(given) : [given];
  return files.map((file) => ({
    id: path.relative(path.dirname(given), file),
    run: async () => runCase(loads(await readFile(file, "utf8"), { allowNonFinite: true }) as BenchmarkCase),
  }));
};

function caseFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?:^|\/)case[^/]*\.json$/.test(name))
    .sort()
    .map((name) => path.join(directory, name));
}

async function runCase(golden: BenchmarkCase): Promise<string | undefined> {
  const { tables, limits = {}, now, tokenizer } = golden;
  const { expect: expectRows, expect_source: _, subjects, subsets, ...limitArgs } = limits;
  const benchmark = await readBenchmark(golden.benchmark);
  const rows: unknown[] = [];
  const also: JsonObject = {};
  for await (const { row } of prepareRows({
    file: benchmark.script,
    args: {
      ...benchmark.args,
      ...golden.prepare_script_args,
      ...limitArgs,
      ...(now !== undefined && { now }),
    },
    access: accessTo(golden),
    tables,
    env: golden.environment,
    expectRows: expectRows ?? golden.expected_rows.length,
    onFile: (name, value) => {
      also[path.posix.join("benchmarks", path.basename(path.dirname(benchmark.script)), "data", name)] = [
        value,
      ];
    },
    foreach: { ...(subjects && { subject: subjects }), ...(subsets && { subset: subsets }) },
    ...(tokenizer !== undefined && {
      tokenizer: { encode: (text) => splitWords(text).map((_word, index) => index), decode: () => "" },
    }),
  }))
    rows.push(toPlainNumbers(row));
  return (
    difference(rows, toPlainNumbers(golden.expected_rows)) ??
    (isTruthy(also) ? difference(toPlainNumbers(also), toPlainNumbers(golden.also_written)) : undefined)
  );
}

/** The prepare.yaml of a benchmark and the arguments that its config sets. */
async function readBenchmark(name: string): Promise<{ script: string; args: JsonObject }> {
  const root = installRoot();
  const folder = path.join(root, "benchmarks", name);
  const config = [path.join(folder, "config.yaml"), `${folder}.yaml`].find(existsSync);
  if (config === undefined) throw new Error(`there is no benchmark '${name}'`);
  const values = parseYamlText(await readFile(config, "utf8"), config) as JsonObject;
  const agents = Object.entries(values).flatMap(([instance, block]) => {
    const types =
      isObject(block) && isObject(block["responses_api_agents"]) ? block["responses_api_agents"] : {};
    return Object.values(types).map((agent) => ({
      name: instance,
      datasets: (agent as JsonObject)["datasets"] as unknown[] | undefined,
    }));
  });
  const [entry] = agentsOf(agents)
    .agents.flatMap(({ datasets }) => datasets)
    .filter(({ type }) => type === "benchmark");
  if (entry?.type !== "benchmark") throw new Error(`${config} has no dataset of type benchmark`);
  return {
    script: path.join(root, entry.prepareScript),
    args: (values["prepare_script_args"] ?? {}) as JsonObject,
  };
}

/** Sources that are part of a case, instead of the network. */
function accessTo({ source }: BenchmarkCase): SourceAccess {
  const hubs = source.filter((item): item is HubSource => item.kind === "hub");
  const same = (given: unknown, wanted: unknown) =>
    wanted === undefined || given === undefined || given === wanted;
  return {
    async *hubRows({ hub, config, split, revision }) {
      const found = hubs.find(
        (item) =>
          item.repo_id === hub &&
          item.rows !== undefined &&
          same(item.config, config) &&
          same(item.split, split) &&
          same(item.revision, revision),
      );
      if (found?.rows === undefined) throw new Error(`the case has no ${hub} ${config ?? ""} ${split ?? ""}`);
      for (const row of found.rows) yield withTypes(row, found.columns ?? {});
    },
    hubConfigs: async (repository) =>
      hubs.find(({ repo_id, configs }) => repo_id === repository && configs !== undefined)?.configs ?? [],
    open: async (wanted) => openedFile(source, wanted),
  };
}

function withTypes(row: JsonObject, columns: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      /^(?:float|double)/.test(columns[name] ?? "") ? asDouble(value) : value,
    ]),
  );
}

function openedFile(
  sources: BenchmarkCase["source"],
  { hub, files, url, file }: SourceDescription,
): OpenedFile {
  const found = sources.find((item) =>
    item.kind === "hub"
      ? item.repo_id === hub && (item.files === files || item.archive === files)
      : item.kind === "url"
        ? item.url === url
        : item.path === file,
  );
  const name = files ?? url ?? file ?? "";
  if (found === undefined) return openedFolder(sources, name);
  const { rows, columns } = found as HubSource;
  return {
    name,
    ...(rows !== undefined && {
      lines: async function* () {
        for (const row of rows) yield withTypes(row, columns ?? {});
      },
    }),
    text: async () => (found as FileSource).text ?? "",
    members: async function* (encoding, wanted) {
      for (const { path: member, text } of found.members ?? [])
        if (wanted(member))
          yield { name: member, text: encoding === "base64" ? Buffer.from(text).toString(encoding) : text };
    },
  };
}

/** A folder holds every file of the case below it. */
function openedFolder(sources: BenchmarkCase["source"], name: string): OpenedFile {
  const files = sources.flatMap((item) =>
    item.kind === "file" && item.path?.startsWith(`${name}/`)
      ? [{ name: item.path.slice(name.length + 1), text: item.text ?? "", sql: item.sql }]
      : [],
  );
  if (files.length === 0) throw new Error(`the case has no ${name}`);
  return {
    name,
    text: async () => "",
    async *members(_encoding, wanted) {
      for (const { name: member, text, sql } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
        if (wanted(member)) yield { name: member, text: sql === undefined ? text : await dumpOf(sql) };
    },
  };
}

async function dumpOf(sql: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "gym-database-"));
  try {
    const file = path.join(folder, "database.sqlite");
    const make = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    execFileSync("python3", ["-c", make, file, sql]);
    return await dumpSqlite(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
