import type { FailureStage } from "../../calls/errors.ts";
import type { JudgeTally, ToolExceptions } from "../../wire/result-members.ts";
import type { Boundary } from "../../wire/tokens/token-continuity.ts";

/** How often the prompt of a turn continued the tokens before it, departed from them, or could not be compared. */
export type TurnBoundaries = Record<Boundary["kind"], number>;

/** What holds a run up, while no rollout completes. */
export interface TroubleSnapshot {
  server: string;
  /** What was said last. */
  message: string;
  /** Since the first of the warnings. */
  seconds: number;
  warnings: number;
}

/** How far a collection is, as `<rollouts>_progress.json` and `gym eval ctl show` report it. */
export interface ProgressSnapshot {
  /** Rollouts of this run and of the ones it resumes. */
  total: number;
  done: number;
  completed: number;
  failed: number;
  cancelled: number;
  retrying: number;
  in_flight: number;
  concurrency: number;
  elapsed_seconds: number;
  /** Rollouts per second of late. */
  rate: number;
  eta_seconds: number | null;
  mean_reward: number | null;
  /** The ends of the 95 % interval of the mean, clustered by task as in the statistics; null while there are too few tasks. */
  reward_interval: [low: number, high: number] | null;
  failures_by_class: Record<string, number>;
  /** What the latest failure of each class said. */
  failure_messages: Record<string, string>;
  /** Where the latest failure of each class happened. */
  failure_stages: Record<string, FailureStage>;
  /** The first rows that failed in each class; `line` is that of the materialized inputs. */
  failure_rows: Record<string, FailedRow[]>;
  /** What servers have warned of since a rollout last completed; null when nothing holds the run up. */
  trouble: TroubleSnapshot | null;
  /** Model turns in this session, as reported by agents that share the process. */
  model_calls: number;
  /** Calls of completed rollouts that failed and were made again, in all sessions. */
  model_retries: number;
  /** Tokens of completed rollouts, in all sessions. */
  input_tokens: number;
  output_tokens: number;
  /** What the judges of completed rollouts were asked, in all sessions; null where there is no judge. */
  judge: JudgeTally | null;
  /** Exceptions of tools in completed rollouts, in all sessions, by server. */
  tool_exceptions: ToolExceptions[];
  /** Whether earlier sessions have done a part. */
  resumed: boolean;
  /** What the calls cost, where prices are known. */
  cost: number | null;
  /** What all calls have cost so far, those of failed rollouts, judges and earlier sessions included; null if not counted. */
  spent: number | null;
  /** How turns continue the tokens before them; null while no rollout has token ids. */
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
  /** Such as the name of the tool; undefined where the stage says it all. */
  what?: string | undefined;
  seconds: number;
  stage_seconds: number;
  model_calls: number;
  /** The stage that ended last and how long it took; null in the first one. */
  last_event: { stage: FailureStage; what?: string | undefined; seconds: number } | null;
}

/** What a running collection answers to a control request. */
export interface CollectionSnapshot extends ProgressSnapshot {
  pid: number;
  output: string;
  paused: boolean;
  automatic_concurrency: boolean;
  running: RunningSnapshot[];
  /** Rollouts that failed permanently in this session. */
  lost: { id: string; class: string }[];
}
