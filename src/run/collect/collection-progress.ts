import type { FailureStage } from "../../base/failures.ts";
import type { Row } from "../../records/files/door.ts";
import type { FailedRow, ProgressSnapshot, TroubleSnapshot } from "../../records/light-door.ts";
import { tellsOfLoss } from "../../wire/convert/door.ts";
import type { CollectOptions } from "./collect-contract.ts";
import type { Outcome } from "./outcome.ts";
import { RolloutTally } from "./rollout-tally.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { StartedRollout } from "./started-rollout.ts";

const SLOWEST_SHOWN = 3;
const FAILED_ROWS_SHOWN = 3;
/** The rate covers the last half minute, so that it reflects the current speed. */
const RATE_WINDOW_MS = 30_000;

type ProgressOptions = Pick<CollectOptions, "total" | "alreadyDone" | "alreadyLost" | "earlier" | "spent">;
type EndedRow = Pick<QueuedRow, "taskIndex" | "rolloutIndex" | "agent" | "line">;
type RunningRollout = Pick<StartedRollout, "id" | "agent" | "startedAt" | "stage" | "what" | "modelCalls">;

/** Counters of a running collection. Updates are cheap; the summary is computed on request. */
export class CollectionProgress {
  readonly #options: ProgressOptions;
  /** Monotonic time, so that a change of the system clock does not affect the rate. */
  readonly #startedAt = performance.now();
  readonly #tally: RolloutTally;
  readonly #failures = new Map<string, { count: number; message: string; stage: FailureStage }>();
  readonly #failedRows = new Map<string, FailedRow[]>();
  readonly #trouble = new Trouble();
  /** Completed rollouts per second, for the seconds within the window of the rate. */
  readonly #recent: { second: number; count: number }[] = [];
  /** Rollouts that ended in this session. */
  completed = 0;
  failed = 0;
  cancelled = 0;
  #modelCalls = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    // Counting continues from the rollouts that are already done.
    this.#tally = options.earlier ?? new RolloutTally();
  }

  ended(outcome: Outcome, row: EndedRow, willRetry: boolean): void {
    if (outcome.status === "cancelled") {
      if (!willRetry) this.cancelled++;
      return;
    }
    if (outcome.status === "failed") {
      const { class: name, message, stage } = outcome.failure;
      this.#failures.set(name, { count: (this.#failures.get(name)?.count ?? 0) + 1, message, stage });
      this.#noteFailedRow(name, row);
      if (!willRetry) this.failed++;
      return;
    }
    this.completed++;
    this.#trouble.over();
    this.#note(performance.now());
    this.#tally.add(outcome.row, row.taskIndex, row.agent);
  }

  /** A rollout that had failed permanently runs again. */
  retried(): void {
    this.failed--;
  }

  /** Remembers the first rows of a class, so that messages can name them. */
  #noteFailedRow(name: string, { taskIndex, rolloutIndex, line }: EndedRow): void {
    const rows = this.#failedRows.get(name) ?? [];
    this.#failedRows.set(name, rows);
    if (rows.length >= FAILED_ROWS_SHOWN || rows.some(({ task_index }) => task_index === taskIndex)) return;
    rows.push({ task_index: taskIndex, rollout_index: rolloutIndex, line: line ?? null });
  }

  /** Agents have asked a model for turns. */
  modelCalled(times = 1): void {
    this.#modelCalls += times;
  }

  /** A server has warned of a problem that may delay rollouts. */
  warned(server: string, message: string): void {
    this.#trouble.warned(server, message);
  }

  /** The problem is over. */
  recovered(): void {
    this.#trouble.over();
  }

  /** Counts the row of a completed rollout, including its captured data. */
  written(row: Row): void {
    this.#tally.written(row);
  }

  snapshot(running: readonly RunningRollout[], concurrency: number, retrying: number): ProgressSnapshot {
    const now = performance.now();
    const { total, alreadyDone, alreadyLost, spent } = this.#options;
    const completed = alreadyDone + this.completed;
    const lostBefore = (alreadyLost?.outOfAttempts ?? 0) + (alreadyLost?.terminal ?? 0);
    const failed = lostBefore + this.failed;
    const done = completed + failed;
    const rate = this.#rate(now);
    const left = total - done;
    const failures = [...this.#failures].sort(([, a], [, b]) => b.count - a.count);
    const slowest = [...running].sort((a, b) => a.startedAt - b.startedAt).slice(0, SLOWEST_SHOWN);
    return {
      total,
      done,
      completed,
      failed,
      failed_before: lostBefore,
      cancelled: this.cancelled,
      retrying,
      in_flight: running.length,
      concurrency,
      elapsed_seconds: (now - this.#startedAt) / 1000,
      rate,
      eta_seconds: rate > 0 && left > 0 ? left / rate : null,
      mean_reward: this.#tally.rewards.mean,
      reward_interval: this.#tally.rewards.interval,
      failures_by_class: Object.fromEntries(failures.map(([name, { count }]) => [name, count])),
      failure_messages: Object.fromEntries(failures.map(([name, { message }]) => [name, message])),
      failure_stages: Object.fromEntries(failures.map(([name, { stage }]) => [name, stage])),
      failure_rows: Object.fromEntries(this.#failedRows),
      trouble: this.#trouble.snapshot(now),
      model_calls: this.#modelCalls,
      model_retries: this.#tally.retries,
      input_tokens: this.#tally.inputTokens,
      output_tokens: this.#tally.outputTokens,
      judge: structuredClone(this.#tally.judge),
      tool_exceptions: this.#tally.toolExceptions,
      resumed: alreadyDone + lostBefore > 0,
      cost: this.#tally.cost,
      spent: spent?.() ?? null,
      turn_boundaries: this.#tally.turnBoundaries,
      slowest: slowest.map(({ id, agent, startedAt, stage, what, modelCalls }) => ({
        id,
        agent,
        seconds: (now - startedAt) / 1000,
        stage,
        what,
        model_calls: modelCalls,
      })),
      by_agent: this.#tally.byAgent,
    };
  }

  #note(now: number): void {
    const second = Math.floor(now / 1000);
    const last = this.#recent.at(-1);
    if (last?.second === second) last.count++;
    else this.#recent.push({ second, count: 1 });
    const oldest = Math.floor((now - RATE_WINDOW_MS) / 1000);
    while ((this.#recent[0]?.second ?? second) < oldest) this.#recent.shift();
  }

  #rate(now: number): number {
    const from = Math.max(this.#startedAt, now - RATE_WINDOW_MS);
    let count = 0;
    for (const recent of this.#recent) if ((recent.second + 1) * 1000 > from) count += recent.count;
    return count / Math.max(0.001, (now - from) / 1000);
  }
}

const MAX_MESSAGE = 1_000;

/** The warnings of servers since the last completed model call or rollout. They explain why a run makes no progress. */
export class Trouble {
  #since = 0;
  #warnings = 0;
  #server = "";
  #message = "";

  warned(server: string, message: string, now = performance.now()): void {
    if (tellsOfLoss(message)) return;
    if (this.#warnings === 0) this.#since = now;
    this.#warnings++;
    this.#server = server;
    this.#message = message.slice(0, MAX_MESSAGE);
  }

  over(): void {
    this.#warnings = 0;
  }

  snapshot(now = performance.now()): TroubleSnapshot | null {
    if (this.#warnings === 0) return null;
    return {
      server: this.#server,
      message: this.#message,
      seconds: (now - this.#since) / 1000,
      warnings: this.#warnings,
    };
  }
}
