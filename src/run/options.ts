import { z } from "zod";
import {
  callback,
  checkOptions,
  flag,
  type OptionTable,
  record,
  schemaOf,
  signal,
  text,
  texts,
  whole,
} from "../base/check-options.ts";
import { GymError } from "../base/errors.ts";
import type { FsyncPolicy, ImageForm, Row } from "../records/files/door.ts";
import type { RunClient } from "../servers/calls/door.ts";
import type { QueueOptions } from "./distributed/queue-options.ts";
import type { HealthSetting } from "./health-after-run.ts";
import type { RepeatOrder } from "./inputs/expand.ts";
import type { RepeatsSetting } from "./inputs/repeats.ts";
import type { RowSelection } from "./inputs/select-rows.ts";
import type { TextOverrides } from "./inputs/text-overrides.ts";
import type { RolloutDriver } from "./rollout-driver.ts";
import { runSettings } from "./settings.ts";

/** Running servers, started by `startServers` or by another process. */
export interface EvaluationServers {
  client: RunClient;
  /** Names of the agents among them. */
  agents: readonly string[];
  /** Looks up the addresses again after a server was unreachable. */
  refreshAddresses?: (signal: AbortSignal) => Promise<void>;
}

export interface EvaluationOptions {
  /** A JSONL file, or the rows themselves. Default: the example data of the config's agents. */
  input?: string | readonly Row[];
  /** Runs this split of the datasets of the config's agents, instead of `input`. It is collated next to the output. */
  split?: string;
  /** With `split`: uses the rows that an earlier run with this output has prepared. */
  reusePreparedData?: boolean;
  /** Asked before the rows of these benchmarks are downloaded. Default: they may. */
  mayPrepare?: (benchmarks: readonly string[]) => boolean | Promise<boolean>;
  /** Rollouts file; metrics, failures and the manifest are written next to it. Default: results are kept in memory. */
  output?: string;
  /** Agent for rows without `agent_ref`. Not needed when there is only one. */
  agent?: string;
  /** Runs only these rows of the input. Default: all. */
  select?: RowSelection;
  /** Maximum number of input rows, before repeats; 0: all. Default: all. */
  limit?: number;
  /** Rollouts per row, or a map from agent to number. Default: 1. */
  repeats?: RepeatsSetting;
  /**
   * `breadth`: every row once, then again for the next repeat; `depth`: all repeats of a row together. Default: `breadth`
   * if `max_cost` or `runTimeoutSeconds` may end the run early, else `depth`.
   */
  repeatOrder?: RepeatOrder;
  /** Gives every repeat its own seed. */
  addSeed?: boolean;
  /** Concurrent rollouts; 0: automatic. Default: automatic. */
  concurrency?: number;
  /** Attempts per rollout. Default: NEMO_GYM_MAX_ROLLOUT_ATTEMPTS, or 3. */
  maxAttempts?: number;
  /** Upper limit of `concurrency`, also of an automatic one. */
  maxResident?: number;
  /** Seconds in which rollouts start; a resumed run starts the others. Needs `concurrency`. Default: no limit. */
  dispatchBudgetSeconds?: number;
  /** No rollout starts with less of `dispatchBudgetSeconds` left. Default: what three quarters of the rollouts took. */
  drainMarginSeconds?: number;
  /** False: the first rollout that fails for good ends the run. Default: true. */
  routeFailures?: boolean;
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
  /** Texts that replace the system prompt and the descriptions of tools in every row. */
  textOverrides?: TextOverrides;
  /** Checks the rows against the schemas and tools of their environment before the first model call. Default: true. */
  checkRows?: boolean;
  /** Continues the run that `output` holds. */
  resume?: boolean;
  /** Resumes although inputs or config differ. */
  force?: boolean;
  /** With `resume`: runs failed rollouts again, however often they were tried. */
  retryFailed?: boolean;
  /** With `resume`: rollouts whose failed attempts took longest start first. */
  longestFirst?: boolean;
  /** With `resume`: time-outs that an agent marked as terminal (`timeout_exceeded`) are tried again. */
  retryTerminalTimeouts?: boolean;
  /** With `resume`: results with `invalid_judge_response` become failures and run again. */
  retryInvalidJudge?: boolean;
  /** Classes of failures that count as zero in the metrics. Default: none. */
  countFailuresAsZero?: readonly string[];
  /** Rollouts that left neither a result nor a failure count as zero in the metrics. */
  countMissingAsZero?: boolean;
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
   * `reference`: images above 4 kB are stored once in `rollout_images` beside the output, and the rows refer to them.
   * `inline`: they stay in the rows. Default: `reference`.
   */
  images?: ImageForm;
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

const settingSchemas = Object.fromEntries(
  Object.entries(runSettings).map(([option, setting]) => [option, schemaOf(setting)]),
) as Record<keyof typeof runSettings, z.ZodType>;

/** A schema for each option. `optimize` passes some of them on. */
export const evaluationOptionTable: OptionTable<EvaluationOptions> = {
  input: z
    .union([z.string(), z.custom(Array.isArray)], "must be the name of a file, or a list of rows")
    .optional(),
  ...settingSchemas,
  mayPrepare: z.custom((value) => typeof value === "function", "must be a function").optional(),
  output: text.optional(),
  select: z
    .object({
      where: text.optional(),
      ids: z.array(text).optional(),
      sample: whole(1).optional(),
      seed: whole(0).optional(),
    })
    .optional(),
  maxAttempts: whole(1).optional(),
  skills: text.optional(),
  force: flag.optional(),
  aggregate: flag.optional(),
  healthCheck: z.union([z.literal(false), record], "must be false or an object").optional(),
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

/** Rejects options that no run can have. */
export function checkEvaluationOptions(options: EvaluationOptions): void {
  checkOptions("runEvaluation", evaluationOptionTable, options);
  if (options.input !== undefined && options.split !== undefined)
    throw new GymError("OPTIONS_INVALID", "runEvaluation: 'input' and 'split' cannot be combined.");
}
