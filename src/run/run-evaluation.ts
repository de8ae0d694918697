import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "../base/python/json/door.ts";
import { type ArtifactPaths, readRows } from "../records/files/door.ts";
import type { HealthReport } from "../records/results/light-door.ts";
import type { CollectResult } from "./collect/collect-contract.ts";
import { evaluate } from "./evaluate.ts";
import { checkEvaluationOptions, type EvaluationOptions } from "./options.ts";
import type { RunConfig } from "./run-config.ts";
import { type RunEvent, withEvents } from "./run-events.ts";
import type { RunSummary } from "./summarize.ts";
import type { TrackedRun } from "./tracking.ts";

/** What collecting and scoring rollouts results in. */
export interface ScoredRun extends CollectResult {
  /**
   * Metrics by agent with 95 % intervals, and the number of rollouts that they cover; undefined without aggregation.
   */
  summary: RunSummary | undefined;
  /** Files of the run; undefined for a run in memory. */
  paths: ArtifactPaths | undefined;
  /** The tracking services that received the results. */
  tracked: readonly TrackedRun[];
  /** The rollouts of a run in memory; read those of a file with `loadRollouts`. */
  rollouts: Rollout[] | undefined;
}

/** The result of an evaluation. */
export interface EvaluationResult extends ScoredRun {
  /** What the health check found; undefined without a check. */
  health: HealthReport | undefined;
  /** The thresholds that the run misses, one sentence each. */
  missedThresholds: readonly string[];
}

/** The result of an evaluation with files: `paths` is set, and the files hold the rollouts. */
export type FileResult = EvaluationResult & { paths: ArtifactPaths; rollouts: undefined };
/** The result of an evaluation without files. */
export type MemoryResult = EvaluationResult & { paths: undefined; rollouts: Rollout[] };

/** A running evaluation. */
export interface EvaluationRun<Result extends ScoredRun = EvaluationResult> {
  /**
   * The events of the run, in order. Reading them is optional. Every `for await` receives the events after its start;
   * start it before the first `await` to receive all. It ends with the run, and throws the error that made the run fail.
   */
  readonly events: AsyncIterable<RunEvent>;
  readonly result: Promise<Result>;
}

/**
 * Runs every row through its agent, scores it and computes metrics. Servers are started and stopped unless they are given.
 *
 * @example
 * const run = runEvaluation({ environment, model: { url, name } }, { input: rows, repeats: 4 });
 * for await (const event of run.events) if (event.type === "outcome") console.log(event.taskIndex);
 * const { summary } = await run.result;
 */
export function runEvaluation(
  config: RunConfig,
  options: EvaluationOptions & { output: string },
): EvaluationRun<FileResult>;
export function runEvaluation(
  config: RunConfig,
  options?: EvaluationOptions & { output?: undefined },
): EvaluationRun<MemoryResult>;
export function runEvaluation(config: RunConfig, options: EvaluationOptions): EvaluationRun;
export function runEvaluation(config: RunConfig, options: EvaluationOptions = {}): EvaluationRun {
  return withEvents((emit) => run(config, options, emit));
}

async function run(
  config: RunConfig,
  options: EvaluationOptions,
  emit: (event: RunEvent) => void,
): Promise<EvaluationResult> {
  checkEvaluationOptions(options);
  if (options.output !== undefined) {
    const { result, ...evaluation } = await evaluate(config, options.output, options, emit);
    return { ...result, ...evaluation, rollouts: undefined };
  }
  const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-evaluation-"));
  try {
    const output = path.join(directory, "rollouts.jsonl");
    const inMemory = { healthCheck: false, ...options } as const;
    const { result, ...evaluation } = await evaluate(config, output, inMemory, emit);
    const rollouts: Rollout[] = [];
    for await (const rollout of loadRollouts(output)) rollouts.push(rollout);
    return { ...result, ...evaluation, paths: undefined, rollouts };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** One row of a rollouts file: the input row, the model's response and the fields that the verifier reported. */
export interface Rollout extends JsonObject {
  _ng_task_index: number;
  _ng_rollout_index: number;
  reward?: number;
}

export interface LoadOptions {
  signal?: AbortSignal;
}

/**
 * Reads a rollouts file row by row. Skips a last line that was cut off during a write.
 *
 * @example
 * for await (const { reward } of loadRollouts("results/run.jsonl")) console.log(reward);
 */
export async function* loadRollouts(file: string, options: LoadOptions = {}): AsyncGenerator<Rollout> {
  const reading = { ...options, onTornLine: () => {} };
  for await (const { row } of readRows(path.resolve(file), reading)) yield row as Rollout;
}
