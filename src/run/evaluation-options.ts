import type { RunClient } from "../calls/run-client.ts";
import type { Row } from "../rollouts/files/jsonl-rows.ts";
import type { FsyncPolicy } from "../rollouts/files/jsonl-writer.ts";
import type { RepeatsSetting } from "../rollouts/inputs/repeats.ts";
import type { QueueOptions } from "./distributed/options.ts";
import type { RolloutDriver } from "./rollout-driver.ts";

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
  /** Rollouts file; metrics, failures and the manifest are written next to it. Default: results are kept in memory. */
  output?: string;
  /** Agent for rows without `agent_ref`. Not needed when there is only one. */
  agent?: string;
  /** Maximum number of input rows, before repeats. Default: all. */
  limit?: number;
  /** Rollouts per row, or a map from agent to number. Default: 1. */
  repeats?: RepeatsSetting;
  /** Gives every repeat its own seed. */
  addSeed?: boolean;
  /** Concurrent rollouts. Default: automatic. */
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
  fsync?: FsyncPolicy;
  /** Stops everything: running rollouts are cancelled, and `result` resolves with the finished ones. */
  signal?: AbortSignal;
  /** Starts no further rollouts; running ones may finish. */
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
  ownsProcess?: boolean;
  env?: Readonly<Record<string, string | undefined>>;
}
