import { neverReached } from "../../calls/run-client.ts";
import { callServer, type RequiredCall, type ServerReply } from "../../calls/server-client.ts";
import { errorMessage } from "../../errors.ts";
import type { Row } from "../files/jsonl-rows.ts";
import { type AttachedRow, type RolloutCaptures, withTrajectory } from "../trajectory/captures.ts";
import type { CallTarget, CollectOptions, CollectResult, RunningRollout } from "./collect-contract.ts";
import { CollectionProgress, type ProgressSnapshot } from "./collection-progress.ts";
import { ConcurrencyLimit } from "./concurrency.ts";
import { FairQueue, type QueuedRow } from "./fair-queue.ts";
import { Losses } from "./losses.ts";
import { Outages } from "./outages.ts";
import { type Outcome, outcomeOfError, outcomeOfReply, RolloutCancelled } from "./outcome.ts";
import { failureRow, lineOf, outputRow } from "./output-row.ts";
import { RetryQueue } from "./retry-queue.ts";
import { StartedRollout } from "./started-rollout.ts";

/** How long an agent that cannot be reached is waited for. */
const LONGEST_OUTAGE_MS = 300_000;
const PROBE_TIMEOUT_MS = 10_000;

interface Settled {
  outcome: Outcome;
  willRetry: boolean;
}

/** Runs every pending rollout, bounded and fair, and writes each result as it comes. */
export class Collection {
  readonly concurrency: ConcurrencyLimit;
  readonly progress: CollectionProgress;
  readonly #options: CollectOptions;
  readonly #queue: FairQueue;
  readonly #retries = new RetryQueue<QueuedRow>();
  readonly #running = new Map<string, StartedRollout>();
  readonly #runningByAgent = new Map<string, number>();
  /** Where the rows of an agent usually go. */
  readonly #runs = new Map<string, CallTarget>();
  readonly #outages: Outages;
  #completed = 0;
  #failed = 0;
  #cancelled = 0;
  readonly #losses: Losses;
  #paused = false;
  #stoppedEarly: string | undefined;
  #fatal: unknown;
  /** Counts everything that may let the loop go on. */
  #changes = 0;
  #wakeUp: () => void = () => {};

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.rows);
    this.concurrency = new ConcurrencyLimit(options.limits.concurrency);
    const { total, alreadyDone, alreadyLost } = options;
    this.#losses = new Losses(options.limits.maxAttempts, alreadyLost?.outOfAttempts ?? 0);
    this.progress = new CollectionProgress({
      total,
      alreadyDone,
      earlier: options.earlier,
      spent: options.spent,
      alreadyLost: this.#losses.outOfAttempts + (alreadyLost?.terminal ?? 0),
    });
    this.#outages = this.#watchForOutages();
  }

  /** The rollouts under way, oldest first. */
  get running(): RunningRollout[] {
    return [...this.#running.values()];
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** No new rollouts start until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  setConcurrency(limit: number | null): void {
    this.concurrency.set(limit);
    this.#wake();
  }

  /** Stops one rollout; it counts as cancelled and runs again when the collection is resumed. */
  cancel(id: string, reason: string): boolean {
    const rollout = this.#running.get(id);
    rollout?.abort(new RolloutCancelled(reason));
    return rollout !== undefined;
  }

  async run(): Promise<CollectResult> {
    const { drain, stop, limits, alreadyDone, total } = this.#options;
    const onDrain = () => {
      this.#stopEarly("interrupted");
    };
    const onStop = () => {
      this.#stopEarly("interrupted");
      this.#abortAll("the collection was stopped");
    };
    drain?.addEventListener("abort", onDrain, { once: true });
    stop?.addEventListener("abort", onStop, { once: true });
    const timer =
      limits.runTimeoutMs === null ? undefined : setTimeout(() => this.#outOfTime(), limits.runTimeoutMs);
    if (drain?.aborted) onDrain();
    if (stop?.aborted) onStop();
    try {
      await this.#loop();
    } finally {
      clearTimeout(timer);
      drain?.removeEventListener("abort", onDrain);
      stop?.removeEventListener("abort", onStop);
      this.#outages.close();
      await this.#queue.close();
    }
    if (this.#fatal !== undefined) throw this.#fatal;
    return {
      completed: this.#completed,
      failed: this.#failed,
      cancelled: this.#cancelled,
      // Who stops a run when its last rollouts are under way has missed nothing.
      stoppedEarly: alreadyDone + this.#completed < total ? this.#stoppedEarly : undefined,
      resumable: this.#losses.resumable,
      outOfAttempts: this.#losses.outOfAttempts,
      maxAttempts: limits.maxAttempts,
      progress: this.snapshot(),
    };
  }

  snapshot(): ProgressSnapshot {
    return this.progress.snapshot(
      this.running,
      this.concurrency.current,
      this.#retries.size + this.#outages.waiting,
    );
  }

  async #loop(): Promise<void> {
    for (;;) {
      const seen = this.#changes;
      const row = await this.#take();
      if (row) this.#start(row);
      else if (this.#running.size === 0 && (this.#isStopping || (!this.#paused && this.#nothingWaits)))
        return;
      // What changed while a row was looked for is not announced again.
      else if (seen === this.#changes) await this.#changed();
    }
  }

  get #nothingWaits(): boolean {
    return this.#retries.size === 0 && this.#outages.isEmpty;
  }

  get #isStopping(): boolean {
    return this.#stoppedEarly !== undefined || this.#fatal !== undefined;
  }

  /** A row to run now; undefined when there is no place or nothing to do at the moment. */
  async #take(): Promise<QueuedRow | undefined> {
    if (this.#isStopping || this.#paused || this.#running.size >= this.concurrency.current) return undefined;
    const again = this.#outages.next() ?? this.#retries.due();
    if (again && this.#outages.hold(again)) return this.#take();
    if (again) return again;
    // Rows that wait for another attempt are in memory: new ones have to wait when they pile up.
    if (this.#retries.size >= 2 * this.concurrency.current) return undefined;
    const next = await this.#queue.next((agent) =>
      this.#outages.has(agent) ? Number.POSITIVE_INFINITY : (this.#runningByAgent.get(agent) ?? 0),
    );
    if (next && this.#outages.hold(next)) return undefined;
    return this.#isStopping ? undefined : next;
  }

  /** Waits until a rollout ends, a retry is due or somebody changes the settings. */
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      const delay = this.#paused || this.#isStopping ? undefined : this.#retries.untilDue();
      const timer = delay === undefined ? undefined : setTimeout(resolve, delay);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #wake(): void {
    this.#changes++;
    this.#wakeUp();
  }

  #start(queued: QueuedRow): void {
    const { agent } = queued;
    const rollout = new StartedRollout(queued, this.#target(queued), this.#options.limits.rolloutTimeoutMs);
    this.#running.set(rollout.id, rollout);
    this.#runningByAgent.set(agent, (this.#runningByAgent.get(agent) ?? 0) + 1);
    if (this.#options.captures) void this.#prepared(rollout, this.#options.captures);
    else this.#ask(rollout);
  }

  async #prepared(rollout: StartedRollout, captures: RolloutCaptures): Promise<void> {
    try {
      await captures.prepare(rollout.queued.row);
    } catch (error) {
      this.#giveUp(error);
      this.#left(rollout);
      return;
    }
    this.#ask(rollout);
  }

  /** No async function: while thousands of rollouts wait, each would hold more than these two. */
  #ask(rollout: StartedRollout): void {
    rollout.begin();
    void this.#send(rollout).then(
      (reply) => void this.#finish(rollout, () => this.#outcomeOfReply(reply, rollout)),
      (error: unknown) => void this.#finish(rollout, () => this.#outcomeOfError(error, rollout)),
    );
  }

  async #finish(rollout: StartedRollout, read: () => Outcome | undefined): Promise<void> {
    try {
      rollout.end();
      const outcome = read();
      if (outcome !== undefined) this.#ended(rollout, await this.#settle(rollout.queued, outcome));
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#left(rollout);
    }
  }

  /** Results that cannot be written, or that nobody wants any more: there is no point in going on. */
  #giveUp(error: unknown): void {
    this.#fatal ??= error;
    this.#abortAll(errorMessage(error));
  }

  #left(rollout: StartedRollout): void {
    const { id, agent } = rollout;
    this.#running.delete(id);
    this.#runningByAgent.set(agent, (this.#runningByAgent.get(agent) ?? 1) - 1);
    this.#wake();
  }

  #send(rollout: StartedRollout): Promise<ServerReply> {
    const call: RequiredCall = {
      ...rollout.target,
      body: rollout.queued.row,
      signal: rollout,
      onStage: (stage, what) => {
        rollout.entered(stage, what);
        if (stage === "model") this.progress.modelCalled();
      },
    };
    try {
      return callServer(this.#options.client, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #outcomeOfReply(reply: ServerReply, rollout: StartedRollout): Outcome | undefined {
    try {
      return outcomeOfReply(reply.json(), rollout.target.server);
    } catch (error) {
      return this.#outcomeOfError(error, rollout);
    } finally {
      reply.release?.();
    }
  }

  /** Undefined when the row did not get through to its server: it waits, and nothing has been tried. */
  #outcomeOfError(error: unknown, rollout: StartedRollout): Outcome | undefined {
    const { server } = rollout.target;
    if (rollout.aborted || !neverReached(server, error))
      return outcomeOfError(error, { signal: rollout, stage: rollout.stage });
    this.#outages.unreachable(rollout.queued, server, errorMessage(error));
    return undefined;
  }

  #ended({ queued, startedAt }: StartedRollout, { outcome, willRetry }: Settled): void {
    const milliseconds = Math.round(performance.now() - startedAt);
    if (outcome.status === "failed") this.progress.failedRow(outcome.failure.class, queued);
    this.progress.ended(outcome, queued.taskIndex, willRetry, queued.agent);
    const { taskIndex, rolloutIndex, agent, attempt } = queued;
    this.#options.onOutcome?.({ taskIndex, rolloutIndex, agent, attempt, milliseconds, outcome, willRetry });
  }

  /** A result that cannot be written fails its rollout, and not the run. */
  async #settle(queued: QueuedRow, answered: Outcome): Promise<Settled> {
    try {
      return { outcome: answered, willRetry: await this.#record(queued, answered) };
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ROLLOUT_ROW_NOT_JSON") throw error;
      const message = `${this.#target(queued).server}: ${errorMessage(error)}`;
      const failure = { class: "verifier_error", stage: "verify", retryable: false, message } as const;
      const outcome: Outcome = { status: "failed", failure, persist: true };
      return { outcome, willRetry: await this.#record(queued, outcome) };
    }
  }

  #target(queued: QueuedRow): CallTarget {
    const own = this.#options.target?.(queued);
    if (own) return own;
    let usual = this.#runs.get(queued.agent);
    if (!usual) {
      usual = { server: queued.agent, path: "/run", stage: "run" };
      this.#runs.set(queued.agent, usual);
    }
    return usual;
  }

  #attach(row: Row, input: Row, outcome: "completed" | "failed"): Promise<AttachedRow> | AttachedRow {
    return this.#options.captures?.attach(row, input, outcome) ?? { row: withTrajectory(row, input) };
  }

  /** Writes what a rollout came to; says whether it is tried again in this run. */
  async #record(queued: QueuedRow, outcome: Outcome): Promise<boolean> {
    const { output, failures, totals } = this.#options;
    switch (outcome.status) {
      case "completed": {
        const attached = this.#attach(outputRow(outcome.row, queued.row), queued.row, "completed");
        // Most runs record nothing: their rows are there at once.
        const { row, settle } = attached instanceof Promise ? await attached : attached;
        const written = output.append(lineOf(row));
        // In the order of the file; where writing fails the run does, and nobody asks for its totals.
        totals?.addUnwritten(row);
        await written;
        this.progress.written(row);
        await settle?.(() => output.sync());
        this.#completed++;
        this.#losses.succeeded();
        this.concurrency.succeeded();
        return false;
      }
      case "cancelled":
        this.#cancelled++;
        return false;
      case "failed": {
        const { failure, persist } = outcome;
        this.concurrency.failed(failure.class);
        if (persist) {
          const { row } = await this.#attach(
            failureRow(failure, queued.row, outcome.row),
            queued.row,
            "failed",
          );
          await failures.append(lineOf(row));
          totals?.coverage.fail(queued.row);
        }
        const willRetry =
          failure.retryable && !failure.terminal && queued.attempt + 1 < this.#options.limits.maxAttempts;
        const reason = this.#losses.reasonToEnd(failure, willRetry);
        if (reason !== undefined) this.#stopEarly(reason);
        if (willRetry) {
          const attempt = queued.attempt + 1;
          const counted = this.#options.countAttempts !== false;
          const row = counted ? { ...queued.row, _ng_attempt_index: attempt } : queued.row;
          this.#retries.add({ ...queued, attempt, row }, attempt);
          return true;
        }
        this.#failed++;
        this.#losses.lost(failure, persist ? queued.attempt + 1 : queued.attempt);
        return false;
      }
    }
  }

  #watchForOutages(): Outages {
    const { client, limits, onNotice, findAgain } = this.#options;
    const longestMs = limits.longestOutageMs ?? LONGEST_OUTAGE_MS;
    return new Outages({
      longestMs,
      probe: async (server, signal) => {
        await findAgain?.(signal);
        await client.get(server, "/", { signal, timeoutMs: PROBE_TIMEOUT_MS });
      },
      began: (server, message) => {
        const text = `${message}; its rollouts wait until it answers again, at most ${longestMs / 1000} s`;
        this.progress.warned(server, text);
        onNotice?.(text);
      },
      ended: (server, milliseconds) => {
        this.progress.recovered();
        onNotice?.(`${server} answers again after ${(milliseconds / 1000).toFixed(0)} s.`);
        this.#wake();
      },
      gaveUp: (_, message) =>
        this.#stopEarly(`${message}, and it has not come back within ${longestMs / 1000} s`),
    });
  }

  /** None of the rollouts under way is at fault: they count as cancelled, and not as an attempt. */
  #outOfTime(): void {
    const seconds = (this.#options.limits.runTimeoutMs ?? 0) / 1000;
    const reason = `the run took longer than ${seconds} s (run_timeout_seconds)`;
    this.#stopEarly(reason);
    this.#abortAll(reason);
  }

  #stopEarly(reason: string): void {
    this.#stoppedEarly ??= reason;
    this.#wake();
  }

  #abortAll(reason: string): void {
    for (const rollout of this.#running.values()) rollout.abort(new RolloutCancelled(reason));
    this.#wake();
  }
}
