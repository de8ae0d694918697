import type { FailureStage } from "../base/failures.ts";
import type { JudgeTally, ToolExceptions } from "../wire/light-door.ts";
import type { Boundary } from "../wire/tokens/light-door.ts";

/** How often the prompt of a turn continued the previous tokens, diverged from them, or could not be compared. */
export type TurnBoundaries = Record<Boundary["kind"], number>;

/** Warnings that may explain why no rollout completes. */
export interface TroubleSnapshot {
  server: string;
  /** The latest message. */
  message: string;
  /** Seconds since the first warning. */
  seconds: number;
  warnings: number;
}

/** The progress of a collection, as `<rollouts>_progress.json` and `gym eval ctl show` report it. */
export interface ProgressSnapshot {
  /** Rollouts of this run and of the runs that it resumes. */
  total: number;
  done: number;
  completed: number;
  failed: number;
  /** Rollouts that failed in earlier sessions and are not run again. */
  failed_before: number;
  cancelled: number;
  retrying: number;
  in_flight: number;
  concurrency: number;
  elapsed_seconds: number;
  /** Recent rollouts per second. */
  rate: number;
  eta_seconds: number | null;
  mean_reward: number | null;
  /** The 95 % interval of the mean, clustered by task as in the statistics; null with too few tasks. */
  reward_interval: [low: number, high: number] | null;
  failures_by_class: Record<string, number>;
  /** The message of the latest failure of each class. */
  failure_messages: Record<string, string>;
  /** The stage of the latest failure of each class. */
  failure_stages: Record<string, FailureStage>;
  /** The first rows that failed in each class; `line` is the line in the materialized inputs. */
  failure_rows: Record<string, FailedRow[]>;
  /** Warnings of servers since the last completed rollout; null without warnings. */
  trouble: TroubleSnapshot | null;
  /** Model turns in this session, as reported by agents that share the process. */
  model_calls: number;
  /** Calls of completed rollouts that failed and were repeated, in all sessions. */
  model_retries: number;
  /** Tokens of completed rollouts, in all sessions. */
  input_tokens: number;
  output_tokens: number;
  /** Judge calls of completed rollouts, in all sessions; null without a judge. */
  judge: JudgeTally | null;
  /** Exceptions of tools in completed rollouts, in all sessions, by server. */
  tool_exceptions: ToolExceptions[];
  /** Whether earlier sessions completed some of the rollouts. */
  resumed: boolean;
  /** Cost of the calls, if prices are known. */
  cost: number | null;
  /** Cost of all calls so far, including failed rollouts, judges and earlier sessions; null if not counted. */
  spent: number | null;
  /** How turns continue the previous tokens; null while no rollout has token ids. */
  turn_boundaries: TurnBoundaries | null;
  slowest: {
    id: string;
    agent: string;
    seconds: number;
    stage: FailureStage;
    what: string | undefined;
    model_calls: number;
  }[];
  by_agent: Record<string, { done: number; mean_reward: number | null }>;
}

export interface FailedRow {
  task_index: number;
  rollout_index: number;
  line: number | null;
}

/** A rollout in flight. */
export interface RunningSnapshot {
  id: string;
  agent: string;
  attempt: number;
  stage: FailureStage;
  /** Detail of the stage, such as the name of the tool; undefined if there is none. */
  what?: string | undefined;
  seconds: number;
  stage_seconds: number;
  model_calls: number;
  /** The last finished stage and its duration; null during the first one. */
  last_event: { stage: FailureStage; what?: string | undefined; seconds: number } | null;
}

/** The answer of a running collection to a control request. */
export interface CollectionSnapshot extends ProgressSnapshot {
  pid: number;
  output: string;
  paused: boolean;
  automatic_concurrency: boolean;
  running: RunningSnapshot[];
  /** Rollouts that failed permanently in this session. */
  lost: { id: string; class: string }[];
}
