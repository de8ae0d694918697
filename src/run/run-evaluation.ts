import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import {
  callback,
  checkOptions,
  flag,
  number,
  type OptionTable,
  oneOf,
  record,
  seconds,
  signal,
  text,
  texts,
  whole,
} from "../base/check-options.ts";
import { GymError } from "../base/errors.ts";
import type { JsonObject } from "../base/python/json/json-object.ts";
import type { ArtifactPaths } from "../records/files/artifact-paths.ts";
import { type Row, readRows } from "../records/files/jsonl-rows.ts";
import { FSYNC_POLICIES, type FsyncPolicy } from "../records/files/jsonl-writer.ts";
import type { HealthReport } from "../records/results/health/health-check.ts";
import type { RunClient } from "../servers/calls/run-client.ts";
import type { CollectResult } from "./collect/collect-contract.ts";
import type { QueueOptions } from "./distributed/queue-options.ts";
import { evaluate } from "./evaluation-session.ts";
import type { HealthSetting } from "./health-after-run.ts";
import type { RepeatsSetting } from "./inputs/repeats.ts";
import type { RolloutDriver } from "./rollout-driver.ts";
import type { RunConfig } from "./run-config.ts";
import { type RunEvent, withEvents } from "./run-events.ts";
import type { RunSummary } from "./summarize.ts";
import type { TrackedRun } from "./tracking.ts";

/** Running servers, started by `startServers` or by another process. */
export interface EvaluationServers {
  client: RunClient;
  /** Names of the agents among them. */
  agents: readonly string[];
  /** Looks up the addresses again after a server was unreachable. */
  findAgain?: (signal: AbortSignal) => Promise<void>;
}

export interface EvaluationOptions {
  /** A JSONL file, or the rows themselves. Default: the example data of the config's agents. */
  input?: string | readonly Row[];
  /** Runs this split of the datasets of the config's agents, instead of `input`. It is collated next to the output. */
  split?: string;
  /** With `split`: uses the rows that an earlier run with this output has prepared. */
  reusePreparedData?: boolean;
  /** Rollouts file; metrics, failures and the manifest are written next to it. Default: results are kept in memory. */
  output?: string;
  /** Agent for rows without `agent_ref`. Not needed when there is only one. */
  agent?: string;
  /** Maximum number of input rows, before repeats; 0: all. Default: all. */
  limit?: number;
  /** Rollouts per row, or a map from agent to number. Default: 1. */
  repeats?: RepeatsSetting;
  /** Gives every repeat its own seed. */
  addSeed?: boolean;
  /** Concurrent rollouts; 0: automatic. Default: automatic. */
  concurrency?: number;
  /** Attempts per rollout. Default: NEMO_GYM_MAX_ROLLOUT_ATTEMPTS, or 3. */
  maxAttempts?: number;
  /** Time limit of one rollout; null: none. Default: 7200. */
  rolloutTimeoutSeconds?: number | null;
  /** Time limit of the whole collection. Default: none. */
  runTimeoutSeconds?: number;
  /** Fields that replace those of every row's `responses_create_params`, such as `temperature`. */
  params?: Readonly<Row>;
  /** File with the prompt template that creates the input of each row. */
  promptConfig?: string;
  /** Directory of skills offered to the agent. */
  skills?: string;
  /** Checks the rows against the schemas and tools of their environment before the first model call. Default: true. */
  checkRows?: boolean;
  /** Continues the run that `output` holds. */
  resume?: boolean;
  /** Resumes although inputs or config differ. */
  force?: boolean;
  /** With `resume`: runs failed rollouts again, however often they were tried. */
  retryFailed?: boolean;
  /** Computes metrics when the rollouts are collected. Default: true. */
  aggregate?: boolean;
  /** Checks the health of the rollouts after the metrics; false: no check. Default: a check of runs with an output. */
  healthCheck?: HealthSetting;
  /** Sends the rollouts to the tracking services of the config too. Default: metrics only. */
  uploadRollouts?: boolean;
  /** `missedThresholds` of the result names agents with a lower mean reward. */
  failUnder?: number;
  /** `missedThresholds` of the result says when a smaller share of the rollouts, 0 to 1, was scored. */
  minCoverage?: number;
  fsync?: FsyncPolicy;
  /**
   * Stops everything: running rollouts are cancelled, and `result` resolves with the finished ones. Before the first
   * rollout, `result` rejects with the reason of the signal.
   */
  signal?: AbortSignal;
  /** Starts no further rollouts; running ones may finish. Before the first rollout it acts like `signal`. */
  drain?: AbortSignal;
  /** Workers that share this broker run the rollouts (`gym worker`). Default: this process runs them. */
  queue?: QueueOptions;
  /** Uses these servers. Default: starts those of the config and stops them at the end. */
  servers?: EvaluationServers;
  /** Replaces the built-in collection loop. */
  driver?: RolloutDriver;
  /** Settings of the collection that are passed to the driver. */
  driverSettings?: Readonly<Row>;
  /** Config keys for recording model calls, if they differ from those of the config. */
  captureConfig?: Readonly<Row>;
  /** See `StartOptions`. */
  roots?: readonly string[];
  installRoot?: string;
  cwd?: string;
  ownsProcess?: boolean;
  env?: Readonly<Record<string, string | undefined>>;
}

const optionTable: OptionTable<EvaluationOptions> = {
  input: z
    .union([z.string(), z.custom(Array.isArray)], "must be the name of a file, or a list of rows")
    .optional(),
  split: text.optional(),
  reusePreparedData: flag.optional(),
  output: text.optional(),
  agent: text.optional(),
  limit: whole(0).optional(),
  // Checked with the agents of the run.
  repeats: z.unknown(),
  addSeed: flag.optional(),
  concurrency: whole(0).optional(),
  maxAttempts: whole(1).optional(),
  rolloutTimeoutSeconds: seconds.nullish(),
  runTimeoutSeconds: seconds.optional(),
  params: record.optional(),
  promptConfig: text.optional(),
  skills: text.optional(),
  checkRows: flag.optional(),
  resume: flag.optional(),
  force: flag.optional(),
  retryFailed: flag.optional(),
  aggregate: flag.optional(),
  healthCheck: z.union([z.literal(false), record], "must be false or an object").optional(),
  uploadRollouts: flag.optional(),
  failUnder: number.optional(),
  minCoverage: number.min(0).max(1, "must be a share from 0 to 1").optional(),
  fsync: oneOf(FSYNC_POLICIES).optional(),
  signal: signal.optional(),
  drain: signal.optional(),
  queue: record.optional(),
  servers: record.optional(),
  driver: callback.optional(),
  driverSettings: record.optional(),
  captureConfig: record.optional(),
  roots: texts.optional(),
  installRoot: text.optional(),
  cwd: text.optional(),
  ownsProcess: flag.optional(),
  env: record.optional(),
};

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
  checkOptions("runEvaluation", optionTable, options);
  if (options.input !== undefined && options.split !== undefined)
    throw new GymError("OPTIONS_INVALID", "runEvaluation: 'input' and 'split' cannot be combined.");
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
