import type { FailureStage } from "../../base/failures.ts";
import type { JsonlWriter } from "../../records/files/jsonl-writer.ts";
import type { ProgressSnapshot } from "../../records/progress-snapshot.ts";
import type { ServerClient } from "../../servers/calls/server-client.ts";
import type { PendingRow } from "../resume/resume.ts";
import type { RolloutCaptures } from "../trajectory/captures.ts";
import type { Tried } from "./rollout-runner.ts";
import type { RolloutTally } from "./rollout-tally.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { RunTotals } from "./run-totals.ts";
import type { StartedRollout } from "./started-rollout.ts";

export interface CollectLimits {
  /** Concurrent rollouts; null: automatic. */
  concurrency: number | null;
  /** Total attempts per rollout, including failed ones of earlier runs. */
  maxAttempts: number;
  /** Time limit of one rollout in milliseconds; null: no limit. */
  rolloutTimeoutMs: number | null;
  /** Time limit of the whole collection in milliseconds; null: no limit. */
  runTimeoutMs: number | null;
  /** How long to wait for an unreachable agent before the collection ends, in milliseconds (default: five minutes). */
  longestOutageMs?: number;
}

export interface CollectOptions {
  client: ServerClient;
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
  /** The server that receives a row. Default: its agent's `/run`. */
  target?: (row: QueuedRow) => CallTarget;
  /** Whether a retry records its attempt number in the row (default true). */
  countAttempts?: boolean;
  /** Recordings of the servers about the rollouts. */
  captures?: RolloutCaptures;
  /** Workers that run the rollouts instead of this process. */
  workers?: WorkersLink;
  onOutcome?: (event: OutcomeEvent) => void;
  /** Updates the addresses of servers before a probe of one that was unreachable. */
  findAgain?: (signal: AbortSignal) => Promise<void>;
  /** Called with notices for the user. */
  onNotice?: (text: string) => void;
  /** First stop: starts no new rollouts; running ones may finish. */
  drain?: AbortSignal;
  /** Second stop: cancels everything. */
  stop?: AbortSignal;
}

/** How a collection reaches workers in other processes. */
export interface WorkersLink {
  /** Queues a rollout for any worker; waits while the queue is full. */
  enqueue(rollout: StartedRollout): Promise<void>;
  /** Withdraws a rollout from the queue, or from the worker that runs it. */
  withdraw(rollout: StartedRollout): void;
  /** Whether an earlier session has the result of a rollout. */
  isDone(taskIndex: number, rolloutIndex: number): boolean;
}

/** The result that a worker delivers. */
export interface WorkerResult {
  taskIndex: number;
  rolloutIndex: number;
  attempt: number;
  agent: string;
  result: Tried;
}

/**
 * Whether the result of a worker counts: `late` when the rollout already has one, `superseded` when another attempt is
 * running.
 */
export type Verdict = "counted" | "late" | "superseded";

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
