import { stat } from "node:fs/promises";
import path from "node:path";
import { dumps, isObject, type JsonObject, loads } from "../../base/python/json/door.ts";
import { candidatePaths, findExistingPath } from "../../config/paths.ts";
import { DatasetError } from "../errors.ts";
import { writeOutput } from "../output-file.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import type { PrepareRun } from "./prepare-script.ts";

/** The sources of a benchmark for scripts that accept the argument `source`. */
export interface BenchmarkSources {
  /** The file with sample rows beside the script, the default. */
  readonly own: string;
  /** The dataset on the Hugging Face hub, for `source: huggingface`. */
  readonly hub: { readonly repository: string; readonly split: string; readonly configName?: string };
}

/** The second argument of a prepare script. */
export interface PrepareContext {
  /** The folder of the script. */
  readonly directory: string;
  /** The output file: `jsonl_fpath` of the dataset, relative to the working directory. */
  readonly outputPath: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Search roots, in order. */
  readonly roots: readonly string[];
  /** The Python interpreter. */
  readonly python: string;
  log(line: string): void;
  /**
   * Returns the file to convert: the path that the user gave as `source`, the dataset from the hub for
   * `source: huggingface`, or the sample rows if there is no `source`.
   */
  sourceFile(source: unknown, sources: BenchmarkSources): Promise<string>;
  /** Reads the rows of a JSON, JSON lines or parquet file. */
  readRows(file: string): AsyncGenerator<JsonObject>;
  /** Writes the rows to `outputPath` and returns that path. The file appears only when it is complete. */
  writeRows(rows: AsyncIterable<object> | Iterable<object>): Promise<string>;
}

export interface PrepareContextOptions extends Omit<PrepareRun, "args" | "hub"> {
  readonly script: string;
  readonly hub: HubAccess;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Called after the last row, before the file appears. If it throws, the file is discarded. */
  readonly beforeFinish?: () => void;
}

/** Marks sample rows, which are not from the real dataset. */
export const SAMPLE_DATA_KEY = "sample_data";
/** The benchmark of a sample row. */
export const SAMPLE_OF_KEY = "sample_of";

export function createPrepareContext(options: PrepareContextOptions): PrepareContext {
  const { script, benchmark, outputPath, roots, env, python, signal, log, beforeFinish } = options;
  const directory = path.dirname(script);
  let isSample = false;
  return {
    directory,
    outputPath,
    signal,
    env,
    roots,
    python,
    log,
    sourceFile: (source, sources) => {
      isSample = source === undefined || source === null;
      return sourceFile(source, sources, options);
    },
    readRows: (file) => readRows(file, signal),
    writeRows: (rows) =>
      writeOutput(outputPath, { atomic: true }, async (output) => {
        for await (const row of isSample ? marked(rows, benchmark) : rows) {
          signal.throwIfAborted();
          await output.write(`${dumps(row)}\n`);
        }
        beforeFinish?.();
        return outputPath;
      }),
  };
}

async function* marked(
  rows: AsyncIterable<object> | Iterable<object>,
  benchmark: string,
): AsyncGenerator<object> {
  for await (const row of rows) yield { ...row, [SAMPLE_DATA_KEY]: true, [SAMPLE_OF_KEY]: benchmark };
}

async function sourceFile(
  source: unknown,
  { own, hub }: BenchmarkSources,
  { script, benchmark, outputPath, cwd, roots, hub: access, log }: PrepareContextOptions,
): Promise<string> {
  if (source === undefined || source === null) {
    log(
      `${benchmark}: using the included rows. For the real dataset, pass +prepare_script_args.source=huggingface, ` +
        "or the path of its file.",
    );
    return path.resolve(path.dirname(script), own);
  }
  if (typeof source !== "string") throw badSource(benchmark, "must be a path or 'huggingface'");
  if (source === "huggingface") {
    const file = `${outputPath.replace(/\.jsonl$/, "")}_source.jsonl`;
    log(`${benchmark}: downloading the split '${hub.split}' of ${hub.repository}`);
    // The hub library is large, and most scripts do not need it.
    const { downloadHubSplit } = await import("../hub/hub-split-download.ts");
    await downloadHubSplit(access, { ...hub }, file);
    return file;
  }
  const file = findExistingPath(source, [cwd, ...roots]);
  if (file !== undefined) return file;
  const tried = candidatePaths(source, [cwd, ...roots]);
  throw badSource(benchmark, `names a file that does not exist: ${[...new Set(tried)].join(", ")}`);
}

function badSource(benchmark: string, what: string): DatasetError {
  return new DatasetError("BENCHMARK_SOURCE", `${benchmark}: prepare_script_args.source ${what}.`);
}

async function* readRows(file: string, signal: AbortSignal): AsyncGenerator<JsonObject> {
  const { readDataFileRows } = await import("../data-file-rows.ts");
  await requireFile(file);
  let number = 0;
  for await (const line of readDataFileRows(file, path.basename(file), signal)) {
    number++;
    let row: unknown;
    try {
      row = loads(line, { allowNonFinite: true });
    } catch (error) {
      throw new DatasetError(
        "BENCHMARK_SOURCE",
        `${file}, row ${number} is not JSON: ${(error as Error).message}`,
      );
    }
    if (!isObject(row))
      throw new DatasetError("BENCHMARK_SOURCE", `${file}, row ${number} is not a JSON object.`);
    yield row;
  }
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    const what = found.code === "ENOENT" ? "does not exist" : `cannot be read: ${found.message}`;
    throw new DatasetError("BENCHMARK_SOURCE", `The source ${path.resolve(file)} ${what}.`);
  }
  if (found.isDirectory()) {
    throw new DatasetError(
      "BENCHMARK_SOURCE",
      `The source ${path.resolve(file)} is a folder; name the file in it: JSON lines, JSON or parquet.`,
    );
  }
}
