import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { dumps, type JsonObject, loads } from "../../base/python/json/door.ts";
import { findExistingPath } from "../../config/paths.ts";
import { SAMPLE_DATA_KEY, SAMPLE_OF_KEY } from "../benchmarks/prepare-context.ts";
import { readDataFileRows } from "../data-file-rows.ts";
import { DatasetError } from "../errors.ts";
import { writeOutput } from "../output-file.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { type PreparedRow, prepareRows } from "./prepare-rows.ts";
import { remoteSources } from "./remote-sources.ts";
import { readPrepareSpec } from "./spec.ts";

/** Rows between two lines of progress. */
const PROGRESS_ROWS = 100_000;
/** Rows of ours beside a prepare.yaml, already prepared. */
const EXAMPLE_FILE = "data/example.jsonl";

export interface PrepareYamlOptions {
  readonly benchmark: string;
  readonly outputPath: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly hub: HubAccess;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Write at most this many rows. */
  readonly limit?: number;
  readonly onFile?: (name: string, value: unknown) => void;
}

/**
 * Writes the rows of a benchmark as its prepare.yaml says, and returns their path. The argument `source` chooses: `original` (or
 * `huggingface`) the published data, a path a file in the format of the source, nothing the example rows.
 */
export async function prepareFromYaml(
  file: string,
  given: Readonly<Record<string, unknown>>,
  options: PrepareYamlOptions,
): Promise<string> {
  const { benchmark, outputPath, signal, limit = Number.POSITIVE_INFINITY } = options;
  const example = path.join(path.dirname(file), EXAMPLE_FILE);
  const usesExample = (given["source"] ?? undefined) === undefined && existsSync(example);
  if (usesExample) {
    options.log(
      `${benchmark}: using the included rows, which are not the benchmark. For the published data, pass ` +
        "--source original (or +prepare_script_args.source=original), or the path of its file.",
    );
  }
  const { expect } = readPrepareSpec(file);
  const also: [name: string, value: unknown][] = [];
  const hash = createHash("sha256");
  const rows = usesExample
    ? exampleRows(example, benchmark, signal)
    : publishedRows(file, given, { ...options, onFile: (...named) => also.push(named) });
  let count = 0;
  await writeOutput(outputPath, { atomic: true }, async (output) => {
    for await (const row of rows) {
      if (count >= limit) break;
      count++;
      if (count % PROGRESS_ROWS === 0) options.log(`${benchmark}: ${count.toLocaleString("en")} rows`);
      const line = `${dumps(row)}\n`;
      hash.update(line);
      await output.write(line);
    }
    const digest = hash.digest("hex");
    if (!usesExample && options.limit === undefined && (expect.sha256 ?? digest) !== digest)
      throw new DatasetError(
        "BENCHMARK_SOURCE",
        `${benchmark}: the rows have the SHA-256 ${digest}, but ${expect.sha256} is expected. The sources may have changed.`,
      );
    if (!usesExample)
      options.log(`${benchmark}: ${count.toLocaleString("en")} rows, SHA-256 ${digest.slice(0, 16)}…`);
  });
  for (const [name, value] of also)
    await writeOutput(path.join(path.dirname(outputPath), name), { atomic: true }, (output) =>
      output.write(`${dumps(value)}\n`),
    );
  if (options.limit !== undefined && !usesExample)
    options.log(`${benchmark}: the file has ${count} rows because of --limit, not the whole benchmark.`);
  // Downloads stay after a failure only, so that the next try continues them.
  await rm(sourcesDirectory(outputPath), { recursive: true, force: true });
  return outputPath;
}

async function* publishedRows(
  file: string,
  given: Readonly<Record<string, unknown>>,
  options: PrepareYamlOptions,
): AsyncGenerator<JsonObject> {
  for await (const { row } of sourceRows(file, given, options)) yield row;
}

/** Whether a prepare.yaml fetches its rows from elsewhere, without rows of its own beside it. */
export function needsDownload(file: string): boolean {
  if (!file.endsWith(".yaml") || existsSync(path.join(path.dirname(file), EXAMPLE_FILE))) return false;
  return /\b(?:hub|url): /.test(readFileSync(file, "utf8"));
}

/** A file that a prepare.yaml reads, that the user must provide, and that is not here. */
export function missingSource(file: string, roots: readonly string[]): string | undefined {
  const folder = path.dirname(file);
  if (!file.endsWith(".yaml") || existsSync(path.join(folder, EXAMPLE_FILE)) || needsDownload(file))
    return undefined;
  // Of a path with expressions, only the part before the first one is known.
  const sources = readFileSync(file, "utf8").matchAll(/\bfile: ["']?([^"'{},\n]+)/g);
  for (const [, source = ""] of sources)
    if (findExistingPath(source, [folder, ...roots]) === undefined) return source;
  return undefined;
}

/** The row with this number, from 1, and how it was made. Undefined if there are fewer. */
export async function explainRow(
  file: string,
  given: Readonly<Record<string, unknown>>,
  number: number,
  options: PrepareYamlOptions,
): Promise<PreparedRow | undefined> {
  let count = 0;
  for await (const prepared of sourceRows(file, given, { ...options, limit: number }))
    if (++count === number) return prepared;
  return undefined;
}

function sourceRows(
  file: string,
  { source, ...args }: Readonly<Record<string, unknown>>,
  { benchmark, outputPath, cwd, roots, hub, signal, limit, log, env, onFile }: PrepareYamlOptions,
): AsyncGenerator<PreparedRow> {
  const access = remoteSources({
    hub,
    directory: sourcesDirectory(outputPath),
    roots: [path.dirname(file), cwd, ...roots],
    signal,
    log: (line) => log(`${benchmark}: ${line}`),
  });
  const isPublished =
    source === undefined || source === null || source === "original" || source === "huggingface";
  if (!isPublished && typeof source !== "string")
    throw new DatasetError(
      "BENCHMARK_SOURCE",
      `${benchmark}: prepare_script_args.source must be a path or 'original'.`,
    );
  return prepareRows({
    file,
    args,
    access,
    signal,
    limit,
    env,
    onFile,
    ...(!isPublished && { source: { file: source as string } }),
  });
}

function sourcesDirectory(outputPath: string): string {
  return `${outputPath.replace(/\.jsonl$/, "")}_sources`;
}

async function* exampleRows(
  file: string,
  benchmark: string,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  for await (const line of readDataFileRows(file, file, signal))
    yield { ...(loads(line) as JsonObject), [SAMPLE_DATA_KEY]: true, [SAMPLE_OF_KEY]: benchmark };
}
