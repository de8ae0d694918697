import type { FailureStage } from "../../calls/errors.ts";
import type { ServerClient } from "../../calls/server-client.ts";
import type { JsonlWriter } from "../files/jsonl-writer.ts";
import type { PendingRow } from "../resume/resume.ts";
import type { RolloutCaptures } from "../trajectory/captures.ts";
import type { QueuedRow } from "./fair-queue.ts";
import type { ProgressSnapshot } from "./progress-snapshot.ts";
import type { RunResult } from "./rollout-runner.ts";
import type { RolloutTally } from "./rollout-tally.ts";
import type { RunTotals } from "./run-totals.ts";
import type { StartedRollout } from "./started-rollout.ts";

export interface CollectLimits {
  /** Rollouts at once; null: automatic. */
  concurrency: number | null;
  /** Attempts per rollout in all, failed ones of earlier runs included. */
  maxAttempts: number;
  /** Milliseconds one rollout may take; null: no limit. */
  rolloutTimeoutMs: number | null;
  /** Milliseconds the whole collection may take; null: no limit. */
  runTimeoutMs: number | null;
  /** Milliseconds an agent that cannot be reached is waited for before the collection ends (default: five minutes). */
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
  /** What calls have cost so far, in dollars. */
  spent?: (() => number) | undefined;
  /** Rollouts that failed before this run and are not tried again (default none). */
  alreadyLost?: { terminal: number; outOfAttempts: number };
  output: JsonlWriter;
  failures: JsonlWriter;
  limits: CollectLimits;
  /** Counts what is written, where the run is counted as it goes. */
  totals?: RunTotals | undefined;
  /** The server a row is sent to. Default: its agent's `/run`. */
  target?: (row: QueuedRow) => CallTarget;
  /** Whether a retry records its attempt number in the row (default true). */
  countAttempts?: boolean;
  /** What servers record about the rollouts. */
  captures?: RolloutCaptures;
  /** Workers run the rollouts, and this process none. */
  workers?: WorkersLink | undefined;
  onOutcome?: (event: OutcomeEvent) => void;
  /** Updates the addresses of servers before a probe of one that was unreachable. */
  findAgain?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Called with notices for the user. */
  onNotice?: (text: string) => void;
  /** The first stop: no new rollouts, those running may finish. */
  drain?: AbortSignal;
  /** The second stop: everything ends now. */
  stop?: AbortSignal;
}

/** How a collection reaches workers in other processes. */
export interface WorkersLink {
  /** Hands a rollout to whichever worker takes it; waits while there is no room. */
  enqueue(rollout: StartedRollout): Promise<void>;
  /** Takes a rollout back from the queue, or from the worker that has it. */
  withdraw(rollout: StartedRollout): void;
  /** Whether an earlier session has the result of a rollout. */
  isDone(taskIndex: number, rolloutIndex: number): boolean;
}

/** What a worker delivers. */
export interface WorkerResult {
  taskIndex: number;
  rolloutIndex: number;
  attempt: number;
  agent: string;
  result: Exclude<RunResult, { status: "unreachable" }>;
}

/** Whether the result of a worker counts: `late` when the rollout has one, `superseded` when another attempt is under way. */
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
  outcome: Exclude<RunResult, { status: "unreachable" }>;
  /** Whether a failed rollout is tried again in this run. */
  willRetry: boolean;
}

/** One rollout that is under way. */
export interface RunningRollout {
  id: string;
  agent: string;
  attempt: number;
  /** By the monotonic clock (`performance.now`), as all times here. */
  startedAt: number;
  stage: FailureStage;
  stageSince: number;
  what: string | undefined;
  /** Model turns so far, as reported by the agent. */
  modelCalls: number;
  /** The stage that it left last; undefined in the first one. */
  lastStage: FinishedStage | undefined;
}

export interface FinishedStage {
  stage: FailureStage;
  what: string | undefined;
  /** How long it took. */
  milliseconds: number;
}

export interface CollectResult {
  completed: number;
  failed: number;
  cancelled: number;
  /** Why the collection ended before all rows were tried, if it did. */
  stoppedEarly: string | undefined;
  /** Failed rollouts that a resumed run tries again, and that may succeed then. */
  resumable: number;
  /** Failed rollouts, those of earlier runs included, that it does not, because they were tried as often as allowed. */
  outOfAttempts: number;
  maxAttempts: number;
  progress: ProgressSnapshot;
}
