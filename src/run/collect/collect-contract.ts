import type { FailureStage } from "../../base/failures.ts";
import type { JsonlWriter, Row } from "../../records/files/door.ts";
import type { ProgressSnapshot } from "../../records/light-door.ts";
import type { PendingRow } from "../resume/resume.ts";
import type { AttachedRow } from "../trajectory/captures.ts";
import type { Failure } from "./outcome.ts";
import type { RolloutTally } from "./rollout-tally.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { RunTotals } from "./run-totals.ts";
import type { StartedRollout } from "./started-rollout.ts";

export interface CollectLimits {
  /** Concurrent rollouts; null: automatic. */
  concurrency: number | null;
  /** The highest automatic or fixed number of concurrent rollouts (default: 1024 automatic ones). */
  largestConcurrency?: number;
  /** By agent: number of rollouts of a task that wait for each other, so that all of them must run at once. */
  cohorts?: ReadonlyMap<string, number>;
  /** Total attempts per rollout, including failed ones of earlier runs. */
  maxAttempts: number;
  /** Time limit of one rollout in milliseconds; null: no limit. */
  rolloutTimeoutMs: number | null;
  /** Time limit of the whole collection in milliseconds; null: no limit. */
  runTimeoutMs: number | null;
  /** Until when rollouts may start; null: until the end. */
  dispatch?: { budgetMs: number; marginMs: number | null } | null;
  /** Ends the collection at the first rollout that fails and is not retried. */
  endsAtFailure?: boolean;
  /** How long to wait for an unreachable agent before the collection ends, in milliseconds (default: five minutes). */
  longestOutageMs?: number;
}

export interface CollectOptions {
  executor: Executor;
  rows: AsyncIterable<PendingRow>;
  total: number;
  /** Rollouts that were complete before this run. */
  alreadyDone: number;
  /** Totals of those rollouts, so that the progress covers all of them. */
  earlier?: RolloutTally;
  /** Cost of calls so far, in dollars. */
  spent?: () => number;
  /** Rollouts that failed before this run and are not retried (default: none). */
  alreadyLost?: { terminal: number; outOfAttempts: number };
  output: JsonlWriter;
  failures: JsonlWriter;
  limits: CollectLimits;
  /** Counts rows as they are written, if the run keeps totals. */
  totals?: RunTotals;
  /** Whether a retry records its attempt number in the row (default true). */
  countAttempts?: boolean;
  onOutcome?: (event: OutcomeEvent) => void;
  /** Called with notices for the user. */
  onNotice?: (text: string) => void;
  /** First stop: starts no new rollouts; running ones may finish. */
  drain?: AbortSignal;
  /** Second stop: cancels everything. */
  stop?: AbortSignal;
}

/** Runs rollouts for a collection: in this process, or on workers. */
export interface Executor {
  /** The route that runs a rollout. */
  target(queued: QueuedRow): CallTarget;
  /** Starts a rollout; its result goes to the sink. The promise resolves when there is room for another one. */
  start(rollout: StartedRollout, sink: RolloutSink): Promise<void> | void;
  /** Ends a rollout early; its result is `cancelled`. */
  stop(rollout: StartedRollout, reason: string): void;
  /** Whether a rollout has its result although the collection has not started it. */
  isOver?(queued: QueuedRow): boolean;
  /** Whether a rollout that has ended can be started again on request. */
  readonly canRestart: boolean;
  /** Resolves if a server that was unreachable answers again. */
  probe(server: string, signal: AbortSignal): Promise<void>;
}

/** Receives what happens to started rollouts. */
export interface RolloutSink {
  /**
   * Records a result. Resolves when it is written, with whether the rollout will be started again. If it cannot be
   * written, rejects and ends the collection.
   */
  settle(rollout: StartedRollout, result: RunResult): Promise<boolean>;
  /** The rollout cannot be run: ends the collection with this error. */
  broke(rollout: StartedRollout, error: unknown): void;
  modelCalled(): void;
  modelAnswered(): void;
}

/** How a rollout ended, with the line for a file of the run. */
export type RunResult =
  | Tried
  /** The row never reached its server, so it does not use an attempt. */
  | { status: "unreachable"; server: string; message: string };

/** The result of a rollout that was attempted. */
export type Tried =
  | {
      status: "completed";
      row: Row;
      line: string;
      modelCalls: number;
      settle?: AttachedRow["settle"];
    }
  | { status: "failed"; failure: Failure; persist: boolean; line?: string; modelCalls?: number }
  | { status: "cancelled"; message: string };

/** A route of a server, and the stage of a rollout that it runs. */
export interface CallTarget {
  server: string;
  path: string;
  stage: FailureStage;
}

export interface OutcomeEvent {
  taskIndex: number;
  rolloutIndex: number;
  agent: string;
  attempt: number;
  milliseconds: number;
  outcome: Tried;
  /** Whether a failed rollout is retried in this run. */
  willRetry: boolean;
}

export interface CollectResult {
  completed: number;
  failed: number;
  cancelled: number;
  /** Why the collection ended before all rows were tried, if it did. */
  stoppedEarly: string | undefined;
  /** Failed rollouts that a resumed run retries. */
  resumable: number;
  /** Failed rollouts, including those of earlier runs, that are not retried because their attempts are used up. */
  outOfAttempts: number;
  maxAttempts: number;
  progress: ProgressSnapshot;
}
