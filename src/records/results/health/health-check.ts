import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import type Tinypool from "tinypool";
import {
  callback,
  checkOptions,
  type OptionTable,
  signal,
  text,
  texts,
  whole,
} from "../../../base/check-options.ts";
import { errorMessage } from "../../../base/errors.ts";
import { RolloutError } from "../../errors.ts";
import { healthReports } from "../../files/artifact-paths.ts";
import { writeFileAtomically } from "../../files/atomic-file.ts";
import { readLineBatches } from "../../files/jsonl-rows.ts";
import checkLines, { type HealthLine, type HealthTask, type LineHealth } from "./check-line.ts";
import { HEALTH_CHECKS } from "./checks.ts";
import { arrange, type QualitySummary, summarizeHealth, verdictLine } from "./quality-summary.ts";

const MAX_DEFAULT_WORKERS = 8;
/** Below this, the checks take a second or two, and threads would more than double their CPU time. */
const SERIAL_BYTES = 128 * 1024 * 1024;

export interface HealthOptions {
  rolloutsPath: string;
  /** Directory of the reports. Default: that of the rollouts. */
  directory?: string;
  /** Ids of checks to skip. */
  ignoredChecks?: readonly string[];
  /** Threads. Default: one per core, at most 8; none for a small file. */
  workers?: number;
  onNotice?: (text: string) => void;
  signal?: AbortSignal;
}

const optionTable: OptionTable<HealthOptions> = {
  rolloutsPath: text,
  directory: text.optional(),
  ignoredChecks: texts.optional(),
  workers: whole(0).optional(),
  onNotice: callback.optional(),
  signal: signal.optional(),
};

export interface HealthReport {
  summary: QualitySummary;
  summaryPath: string;
  verdictsPath: string;
}

/**
 * Checks that the rollouts of a run are readable, complete, and without failed or empty model calls. Writes
 * `rollout_verdicts.jsonl` and `quality_summary.json`; if those may belong to another run, their names begin with that
 * of the rollouts. The files of the run are not changed.
 *
 * @example
 * const { summary } = await checkHealth({ rolloutsPath: "results/rollouts.jsonl" });
 */
export async function checkHealth(options: HealthOptions): Promise<HealthReport> {
  checkOptions("checkHealth", optionTable, options);
  const { rolloutsPath } = options;
  const ignored = new Set(requireKnown(options.ignoredChecks ?? []));
  const lines = await checkFile(options, [...ignored]);
  arrange(lines, ignored);
  const summary = summarizeHealth(lines, ignored);
  const { verdicts: verdictsPath, summary: summaryPath } = await healthReports(
    rolloutsPath,
    options.directory,
  );
  await writeFileAtomically(verdictsPath, verdictLines(lines));
  await writeFileAtomically(summaryPath, [`${JSON.stringify(summary, null, 2)}\n`]);
  return { summary, summaryPath, verdictsPath };
}

/** Rejects unknown check ids. */
export function requireKnown(ids: readonly string[]): readonly string[] {
  const unknown = ids.filter((id) => !HEALTH_CHECKS.includes(id));
  if (unknown.length === 0) return ids;
  throw new RolloutError(
    "ROLLOUT_HEALTH_CHECK",
    `Unknown rollout health check(s): ${unknown.join(", ")}. Known: ${HEALTH_CHECKS.join(", ")}.`,
  );
}

function* verdictLines(lines: readonly LineHealth[]): Generator<string> {
  for (const line of lines) yield `${JSON.stringify(verdictLine(line))}\n`;
}

async function checkFile(options: HealthOptions, ignored: string[]): Promise<LineHealth[]> {
  const workers = options.workers ?? (await defaultWorkers(options.rolloutsPath));
  if (workers <= 1) return checkSerially(options, ignored);
  try {
    return await checkInThreads(options, ignored, workers);
  } catch (error) {
    if (error instanceof RolloutError || options.signal?.aborted) throw error;
    options.onNotice?.(`Rollouts are checked without threads: ${errorMessage(error)}`);
    return checkSerially(options, ignored);
  }
}

async function defaultWorkers(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  return size < SERIAL_BYTES ? 1 : Math.min(availableParallelism(), MAX_DEFAULT_WORKERS);
}

async function checkSerially(options: HealthOptions, ignored: string[]): Promise<LineHealth[]> {
  const checked: LineHealth[] = [];
  for await (const task of tasksOf(options, ignored)) append(checked, checkLines(task));
  return checked;
}

async function checkInThreads(
  options: HealthOptions,
  ignored: string[],
  workers: number,
): Promise<LineHealth[]> {
  const pool = await startPool(workers);
  try {
    const checked: LineHealth[] = [];
    const running: Promise<LineHealth[]>[] = [];
    const takeFirst = async () => append(checked, (await running.shift()) ?? []);
    for await (const task of tasksOf(options, ignored)) {
      const result = pool.run(task, { signal: options.signal });
      // Awaited later; without this its failure would be an unhandled rejection.
      result.catch(() => undefined);
      running.push(result as Promise<LineHealth[]>);
      if (running.length >= 2 * workers) await takeFirst();
    }
    while (running.length > 0) await takeFirst();
    return checked;
  } finally {
    await pool.destroy();
  }
}

async function startPool(maxThreads: number): Promise<Tinypool> {
  const { default: Pool } = await import("tinypool");
  const suffix = extname(fileURLToPath(import.meta.url));
  return new Pool({
    filename: new URL(`./check-line${suffix}`, import.meta.url).href,
    runtime: "worker_threads",
    // The maximum: an idle thread above the minimum ends immediately, and the next batch would start another.
    minThreads: maxThreads,
    maxThreads,
    ...(suffix === ".ts" && { execArgv: ["--import", "jiti/register"] }),
  });
}

/** The non-blank lines of the file, one batch per read. */
async function* tasksOf(
  { rolloutsPath, signal }: HealthOptions,
  ignored: string[],
): AsyncGenerator<HealthTask> {
  const file = basename(rolloutsPath);
  let ordinal = 0;
  for await (const batch of readLineBatches(rolloutsPath, { signal })) {
    const lines: HealthLine[] = [];
    for (const { text, number } of batch) {
      if (text.trim() !== "") lines.push({ text, number, ordinal: ordinal++ });
    }
    yield { lines, file, ignored };
  }
}

/** Rows without a trajectory lack the same evidence, so they share one list. */
function append(checked: LineHealth[], lines: readonly LineHealth[]): void {
  for (const line of lines) {
    const last = checked.at(-1)?.unobserved;
    const isSame =
      last?.length === line.unobserved.length && last.every((id, at) => id === line.unobserved[at]);
    checked.push(last && isSame ? { ...line, unobserved: last } : line);
  }
}
