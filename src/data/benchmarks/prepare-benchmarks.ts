import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { errorMessage, GymError } from "../../base/errors.ts";
import { isObject, loads } from "../../base/python/json/door.ts";
import { findExistingPath, findPath } from "../../config/paths.ts";
import type { BenchmarkEntry, DatasetAgent } from "../entry.ts";
import { DatasetError } from "../errors.ts";
import { readTextBatches } from "../lines.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { loadPrepareScript, type PrepareResult, type PrepareScript } from "./prepare-script.ts";

/** Maximum number of rows to inspect. Mistakes of a script show early. */
const MAX_ROWS = 1_000;

export interface PrepareOptions {
  /** Agents with their datasets, in config order. */
  readonly agents: readonly DatasetAgent[];
  /** The names of all instances, for the message if none has a benchmark. */
  readonly instances: readonly string[];
  /** The arguments of every script. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Skips benchmarks whose file exists. */
  readonly useCached: boolean;
  /** Maximum number of scripts that run at the same time. */
  readonly concurrency: number;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: string;
  readonly hub: HubAccess;
  /** Write at most this many rows of each benchmark with a `prepare.yaml`. */
  readonly limit?: number;
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
      /** The first problem of the rows. */
      readonly warning?: string;
    };

interface Benchmark {
  readonly entry: BenchmarkEntry;
  readonly script: PrepareScript;
}

/** Runs the prepare script of every benchmark. All scripts are loaded before the first one runs. */
export async function prepareBenchmarks(
  options: PrepareOptions,
): Promise<{ benchmark: string; file: string }[]> {
  const benchmarks = await loadScripts(benchmarkEntries(options), options);
  const queue = [...benchmarks];
  const prepared: { benchmark: string; file: string }[] = [];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      options.signal.throwIfAborted();
      prepared.push({ benchmark: next.entry.name, file: await prepareOne(next, options) });
    }
  };
  try {
    await Promise.all(Array.from({ length: options.concurrency }, work));
    return prepared;
  } finally {
    await closeAll(benchmarks);
  }
}

export function benchmarkEntries({
  agents,
  instances,
}: Pick<PrepareOptions, "agents" | "instances">): BenchmarkEntry[] {
  const found = agents.flatMap(({ name, datasets }) => {
    const entries = datasets.filter((entry): entry is BenchmarkEntry => entry.type === "benchmark");
    if (entries.length > 1) {
      const listed = entries.map((dataset) => `'${dataset.name}'`).join(", ");
      throw new DatasetError(
        "BENCHMARK_AMBIGUOUS",
        `Agent '${name}' has ${entries.length} benchmark datasets (${listed}), but an agent can have only one.`,
      );
    }
    return entries;
  });
  if (found.length > 0) return found;
  throw new DatasetError(
    "BENCHMARK_NONE",
    `No agent of the config has a dataset of type benchmark. Instances: ${instances.join(", ") || "none"}. ` +
      "Name a benchmark, for example: gym eval prepare --benchmark gsm8k",
  );
}

async function closeAll(benchmarks: readonly Benchmark[]): Promise<void> {
  await Promise.all(benchmarks.map(({ script }) => script.close()));
}

async function loadScripts(
  entries: readonly BenchmarkEntry[],
  { roots, signal }: PrepareOptions,
): Promise<Benchmark[]> {
  const problems: string[] = [];
  const benchmarks: Benchmark[] = [];
  for (const entry of entries) {
    try {
      const script = await loadPrepareScript(findPath(entry.prepareScript, roots), signal);
      benchmarks.push({ entry, script });
    } catch (error) {
      problems.push(`  - ${entry.name}: ${errorMessage(error)}`);
    }
  }
  if (problems.length === 0) return benchmarks;
  await closeAll(benchmarks);
  signal.throwIfAborted();
  throw new DatasetError("BENCHMARK_SCRIPT", `Prepare scripts cannot be used:\n${problems.join("\n")}`);
}

async function prepareOne({ entry, script }: Benchmark, options: PrepareOptions): Promise<string> {
  const { args, cwd, roots, env, python, signal, onEvent } = options;
  const benchmark = entry.name;
  const cached = findExistingPath(entry.jsonlPath, roots);
  if (options.useCached && cached !== undefined) {
    onEvent({ type: "cached", benchmark, file: cached });
    return cached;
  }
  const outputPath = path.resolve(cwd, entry.jsonlPath);
  onEvent({ type: "start", benchmark, file: script.file });
  const { token, hubUrl, retries, onRetry } = options.hub;
  if (options.limit !== undefined && !script.file.endsWith(".yaml"))
    throw new DatasetError(
      "BENCHMARK_ARGUMENT",
      `${benchmark}: --limit needs a prepare.yaml, but ${script.file} is a program.`,
    );
  const { limit } = options;
  const run = {
    args,
    benchmark,
    outputPath,
    cwd,
    roots,
    env,
    python,
    limit,
    hub: { token, hubUrl, retries },
  };
  const log = (line: string) => onEvent({ type: "log", benchmark, line });
  let result: PrepareResult;
  try {
    result = await script.run(run, { log, onRetry });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GymError) throw error;
    const message = `${benchmark}: ${script.file} failed: ${errorMessage(error)}`;
    throw new DatasetError("BENCHMARK_SCRIPT", message, { cause: error });
  }
  const file = checkResult(result, { entry, script }, options);
  onEvent({ type: "done", benchmark, file, warning: await invalidRow(file, signal) });
  return file;
}

/** Fails unless the script wrote the file that the config names. */
function checkResult(
  result: PrepareResult,
  { entry, script }: Benchmark,
  { cwd, roots }: PrepareOptions,
): string {
  const expected = findExistingPath(entry.jsonlPath, [cwd, ...roots]);
  const given = result.path === undefined ? undefined : path.resolve(cwd, result.path);
  if (
    given !== undefined &&
    existsSync(given) &&
    expected !== undefined &&
    realpathSync(given) === realpathSync(expected)
  )
    return given;
  const said = given === undefined ? `gave ${result.shown} instead of a path` : `gave ${given}`;
  throw new DatasetError(
    "BENCHMARK_OUTPUT",
    `${entry.name}: ${script.file} ${said}, but the config reads ${expected ?? path.resolve(cwd, entry.jsonlPath)}.`,
  );
}

/** The first row that is not a JSON object with fields, as a message. A file without rows counts too. */
async function invalidRow(file: string, signal: AbortSignal): Promise<string | undefined> {
  let number = 0;
  for await (const { lines } of readTextBatches(file, signal)) {
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
