import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { dumps } from "../../base/python/json/json-dumps.ts";
import { loads } from "../../base/python/json/json-loads.ts";
import type { JsonObject } from "../../base/python/json/json-object.ts";
import { SAMPLE_DATA_KEY } from "../benchmarks/prepare-context.ts";
import { readDataFileRows } from "../data-file-rows.ts";
import { DatasetError } from "../errors.ts";
import { writeOutput } from "../output-file.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { type PreparedRow, prepareRows } from "./prepare-rows.ts";
import { remoteSources } from "./remote-sources.ts";

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
  /** Write at most this many rows. */
  readonly limit?: number;
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
        "+prepare_script_args.source=original, or the path of its file.",
    );
  }
  const rows = usesExample ? exampleRows(example, signal) : publishedRows(file, given, options);
  let count = 0;
  await writeOutput(outputPath, { atomic: true }, async (output) => {
    for await (const row of rows) {
      if (count >= limit) break;
      count++;
      await output.write(`${dumps(row)}\n`);
    }
  });
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
  { benchmark, outputPath, cwd, roots, hub, signal, limit, log }: PrepareYamlOptions,
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
    ...(!isPublished && { source: { file: source as string } }),
  });
}

function sourcesDirectory(outputPath: string): string {
  return `${outputPath.replace(/\.jsonl$/, "")}_sources`;
}

async function* exampleRows(file: string, signal: AbortSignal): AsyncGenerator<JsonObject> {
  for await (const line of readDataFileRows(file, file, signal))
    yield { ...(loads(line) as JsonObject), [SAMPLE_DATA_KEY]: true };
}
