import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { findExistingPath, findPath } from "../../config/paths.ts";
import { errorMessage, GymError } from "../../errors.ts";
import { loads } from "../../python/json/json-loads.ts";
import { isObject } from "../../python/json/json-object.ts";
import type { HubAccess } from "../../remote/hub-access.ts";
import type { DatasetAgent } from "../collate.ts";
import type { BenchmarkEntry } from "../entry.ts";
import { DatasetError } from "../errors.ts";
import { readLineBatches } from "../lines.ts";
import {
  loadPrepareScript,
  type PrepareArgs,
  type PrepareResult,
  type PrepareScript,
} from "./prepare-script.ts";

/** Number of rows to inspect; mistakes of a script show early. */
const MAX_ROWS = 1_000;

/** The first unusable row: not a JSON object, or one without fields. A file without rows counts too. */
async function oddRow(file: string, signal: AbortSignal): Promise<string | undefined> {
  let number = 0;
  for await (const { lines } of readLineBatches(file, { signal })) {
    for (const line of lines) {
      if (line?.trim() === "") continue;
      number++;
      const problem = problemOf(line);
      if (problem !== undefined) return `${file}, row ${number} ${problem}.`;
      if (number >= MAX_ROWS) return undefined;
    }
  }
  return number === 0 ? `${file} has no rows.` : undefined;
}

function problemOf(line: string | null): string | undefined {
  if (line === null) return "is not UTF-8 text";
  let row: unknown;
  try {
    row = loads(line, { allowNonFinite: true });
  } catch {
    return "is not JSON";
  }
  if (!isObject(row)) return "is not a JSON object";
  return Object.keys(row).length === 0 ? "has no fields" : undefined;
}

export interface PrepareOptions {
  /** Agents with their datasets, in config order. */
  readonly agents: readonly DatasetAgent[];
  /** Names of all instances looked at, for the message when none of them has a benchmark. */
  readonly instances: readonly string[];
  /** Given to every script. */
  readonly args: PrepareArgs;
  /** Leaves out benchmarks whose file exists. */
  readonly useCached: boolean;
  /** Scripts that run at the same time. */
  readonly concurrency: number;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: string;
  readonly hub: HubAccess;
  readonly signal: AbortSignal;
  readonly onEvent: (event: PrepareEvent) => void;
}

export type PrepareEvent =
  | { readonly type: "start" | "cached"; readonly benchmark: string; readonly file: string }
  | { readonly type: "log"; readonly benchmark: string; readonly line: string }
  | {
      readonly type: "done";
      readonly benchmark: string;
      readonly file: string;
      /** The problem of the rows. */
      readonly warning?: string | undefined;
    };

interface Benchmark {
  readonly agent: string;
  readonly entry: BenchmarkEntry;
  readonly script: string;
}

/** Runs the prepare script of every benchmark; all scripts are looked at before the first one runs. */
export async function prepareBenchmarks(
  options: PrepareOptions,
): Promise<{ benchmark: string; file: string }[]> {
  const benchmarks = findBenchmarks(options);
  const scripts = await loadScripts(benchmarks, options.signal);
  try {
    return await runAll(benchmarks, scripts, options);
  } finally {
    await closeAll(scripts);
  }
}

async function runAll(
  benchmarks: readonly Benchmark[],
  scripts: readonly PrepareScript[],
  options: PrepareOptions,
): Promise<{ benchmark: string; file: string }[]> {
  const queue = benchmarks.map((benchmark, index) => ({ benchmark, script: scripts[index] }));
  const prepared: { benchmark: string; file: string }[] = [];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      options.signal.throwIfAborted();
      if (next.script === undefined) continue;
      const file = await prepareOne(next.benchmark, next.script, options);
      prepared.push({ benchmark: next.benchmark.entry.name, file });
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  return prepared;
}

function findBenchmarks({ agents, instances, roots }: PrepareOptions): Benchmark[] {
  const benchmarks = agents.flatMap(({ name, datasets }) => {
    const entries = datasets.filter((entry): entry is BenchmarkEntry => entry.type === "benchmark");
    const [entry, ...others] = entries;
    if (others.length > 0) {
      const listed = entries.map((dataset) => `'${dataset.name}'`).join(", ");
      throw new DatasetError(
        "BENCHMARK_AMBIGUOUS",
        `Agent '${name}' has ${entries.length} benchmark datasets (${listed}), but an agent can have only one.`,
      );
    }
    const script = String(entry?.shown["prepare_script"]);
    return entry === undefined ? [] : [{ agent: name, entry, script: findPath(script, roots) }];
  });
  if (benchmarks.length > 0) return benchmarks;
  throw new DatasetError(
    "BENCHMARK_NONE",
    `No agent of the config has a dataset of type benchmark. Instances: ${instances.join(", ") || "none"}. ` +
      "Name a benchmark, for example: gym eval prepare --benchmark gsm8k",
  );
}

async function closeAll(scripts: readonly PrepareScript[]): Promise<void> {
  await Promise.all(scripts.map((script) => script.close()));
}

async function loadScripts(benchmarks: readonly Benchmark[], signal: AbortSignal): Promise<PrepareScript[]> {
  const problems: string[] = [];
  const scripts: PrepareScript[] = [];
  for (const { entry, script } of benchmarks) {
    try {
      scripts.push(await loadPrepareScript(script, signal));
    } catch (error) {
      problems.push(`  - ${entry.name}: ${errorMessage(error)}`);
    }
  }
  if (problems.length === 0) return scripts;
  await closeAll(scripts);
  signal.throwIfAborted();
  throw new DatasetError("BENCHMARK_SCRIPT", `Prepare scripts cannot be used:\n${problems.join("\n")}`);
}

async function prepareOne(
  { entry }: Benchmark,
  script: PrepareScript,
  options: PrepareOptions,
): Promise<string> {
  const { cwd, roots, env, python, hub, signal, onEvent } = options;
  const benchmark = entry.name;
  const cached = findExistingPath(entry.jsonlPath, roots);
  if (options.useCached && cached !== undefined) {
    onEvent({ type: "cached", benchmark, file: cached });
    return cached;
  }
  const outputPath = path.resolve(cwd, entry.jsonlPath);
  onEvent({ type: "start", benchmark, file: script.file });
  const { token, hubUrl, retries, onRetry } = hub;
  const { args } = options;
  const run = { args, benchmark, outputPath, cwd, roots, env, python, hub: { token, hubUrl, retries } };
  const log = (line: string) => onEvent({ type: "log", benchmark, line });
  const returned = await runScript(benchmark, () => script.run(run, { log, onRetry }), script.file, signal);
  const file = checkResult(benchmark, script.file, returned, entry.jsonlPath, options);
  onEvent({ type: "done", benchmark, file, warning: await oddRow(file, signal) });
  return file;
}

/** An error thrown by a script becomes one sentence that names the script. */
async function runScript(
  benchmark: string,
  run: () => Promise<PrepareResult>,
  file: string,
  signal: AbortSignal,
): Promise<PrepareResult> {
  try {
    return await run();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GymError) throw error;
    throw new DatasetError("BENCHMARK_SCRIPT", `${benchmark}: ${file} failed: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The script must have written the file that will be read later. */
function checkResult(
  benchmark: string,
  script: string,
  returned: PrepareResult,
  wanted: string,
  { cwd, roots }: PrepareOptions,
): string {
  const expected = findExistingPath(wanted, [cwd, ...roots]);
  const given = returned.path === undefined ? undefined : path.resolve(cwd, returned.path);
  if (
    given !== undefined &&
    existsSync(given) &&
    expected !== undefined &&
    realpathSync(given) === realpathSync(expected)
  )
    return given;
  const said = given === undefined ? `gave ${returned.shown} instead of a path` : `gave ${given}`;
  throw new DatasetError(
    "BENCHMARK_OUTPUT",
    `${benchmark}: ${script} ${said}, but the config reads ${expected ?? path.resolve(cwd, wanted)}.`,
  );
}
