import { errorMessage } from "../../base/errors.ts";
import type { ProgressSnapshot } from "../../records/light-door.ts";
import type { CollectOptions, CollectResult, RolloutSink, RunResult, Tried } from "./collect-contract.ts";
import { CollectionProgress } from "./collection-progress.ts";
import { ConcurrencyLimit } from "./concurrency.ts";
import { DispatchBudget } from "./dispatch-budget.ts";
import { Outages } from "./outages.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { FairQueue, type QueuedRow, RetryQueue } from "./row-queues.ts";
import { StartedRollout } from "./started-rollout.ts";

/** How long the collection waits for an unreachable agent. */
const LONGEST_OUTAGE_MS = 300_000;

const NO_COHORTS: ReadonlyMap<string, number> = new Map();

/** Runs every pending rollout with bounded concurrency, fairly among agents, and writes each result when it arrives. */
export class Collection implements RolloutSink {
  readonly concurrency: ConcurrencyLimit;
  readonly progress: CollectionProgress;
  readonly #options: CollectOptions;
  readonly #rows: FairQueue;
  readonly #retries = new RetryQueue();
  readonly #running = new Map<string, StartedRollout>();
  readonly #runningByAgent = new Map<string, number>();
  readonly #outages: Outages;
  readonly #budget: DispatchBudget | undefined;
  readonly #recorder: OutcomeRecorder;
  #paused = false;
  #stoppedEarly: string | undefined;
  #fatal: unknown;
  /** Incremented by every change that may let the loop continue. */
  #changes = 0;
  #wakeUp: () => void = () => {};

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#rows = new FairQueue(options.rows);
    const { concurrency, largestConcurrency, cohorts, dispatch } = options.limits;
    this.#budget = dispatch ? new DispatchBudget(dispatch) : undefined;
    const waitingTogether = [...(cohorts?.values() ?? [])].reduce((sum, size) => sum + size, 0);
    this.concurrency = new ConcurrencyLimit(concurrency, waitingTogether, largestConcurrency);
    this.progress = new CollectionProgress(options);
    this.#recorder = new OutcomeRecorder(options, {
      concurrency: this.concurrency,
      progress: this.progress,
      retries: this.#retries,
      isStopping: () => this.#isStopping,
      stopEarly: (reason) => this.#stopEarly(reason),
    });
    this.#outages = this.#watchForOutages();
  }

  /** Number of rollouts that were started and have no result yet. */
  get inFlight(): number {
    return this.#running.size;
  }

  /** The rollouts in flight, oldest first. */
  get running(): StartedRollout[] {
    return [...this.#running.values()];
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Starts no new rollouts until `resume`. */
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
    if (rollout) this.#options.executor.stop(rollout, reason);
    return rollout !== undefined;
  }

  /** Ends the collection with an error: rollouts cannot be run, or results cannot be written. */
  fail(error: unknown): void {
    this.#fatal ??= error;
    this.#abortAll(errorMessage(error));
  }

  /** Starts no new rollouts and cancels the running ones, which does not use an attempt. */
  withdraw(reason: string): void {
    this.#stopEarly(reason);
    this.#abortAll(reason);
  }

  /** Rollouts that failed permanently in this session and can be run again, oldest first. */
  get lost(): { id: string; class: string }[] {
    return this.#recorder.lost;
  }

  /** Runs a rollout again that failed permanently in this session, or restarts a running one. */
  retry(id: string): boolean {
    const { executor } = this.#options;
    if (this.#isStopping || !executor.canRestart) return false;
    const running = this.#running.get(id);
    const queued = this.#recorder.reopen(id) ?? running?.queued;
    if (queued === undefined) return false;
    // Waits until the running attempt has ended: two attempts of one rollout would write two rows.
    if (running) this.#recorder.runAgain(id);
    if (running) executor.stop(running, "stopped to be run again");
    else this.#retries.add(queued, 0);
    this.#wake();
    return true;
  }

  async run(): Promise<CollectResult> {
    const { drain, stop, limits, alreadyDone, total } = this.#options;
    const onDrain = () => this.#stopEarly("interrupted");
    const onStop = () => {
      this.#stopEarly("interrupted");
      this.#abortAll("the collection was stopped");
    };
    drain?.addEventListener("abort", onDrain, { once: true });
    stop?.addEventListener("abort", onStop, { once: true });
    const { runTimeoutMs } = limits;
    const outOfTime = () =>
      this.withdraw(`the run took longer than ${(runTimeoutMs ?? 0) / 1000} s (run_timeout_seconds)`);
    const timer = runTimeoutMs === null ? undefined : setTimeout(outOfTime, runTimeoutMs);
    if (drain?.aborted) onDrain();
    if (stop?.aborted) onStop();
    try {
      await this.#loop();
    } finally {
      clearTimeout(timer);
      drain?.removeEventListener("abort", onDrain);
      stop?.removeEventListener("abort", onStop);
      this.#outages.close();
      await this.#rows.close();
    }
    if (this.#fatal !== undefined) throw this.#fatal;
    const { completed, failed, cancelled } = this.progress;
    const { resumable, outOfAttempts } = this.#recorder;
    return {
      completed,
      failed,
      cancelled,
      // A run that is stopped during its last rollouts is complete if they finish.
      stoppedEarly: alreadyDone + completed < total ? this.#stoppedEarly : undefined,
      resumable,
      outOfAttempts,
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
      if (row) await this.#start(row);
      else if (this.#running.size === 0 && (this.#isStopping || (!this.#paused && this.#nothingWaits)))
        return;
      // Changes during the search for a row do not wake the loop again.
      else if (seen === this.#changes) await this.#changed();
    }
  }

  get #nothingWaits(): boolean {
    return this.#retries.size === 0 && this.#outages.isEmpty;
  }

  get #isStopping(): boolean {
    return this.#stoppedEarly !== undefined || this.#fatal !== undefined;
  }

  /** A row to run now; undefined when paused or stopping, at the concurrency limit, or when no row is ready. */
  async #take(): Promise<QueuedRow | undefined> {
    if (this.#isStopping || this.#paused || this.#running.size >= this.concurrency.current) return undefined;
    if (this.#budget?.isOver()) {
      const isLeft = !this.#nothingWaits || !(await this.#rows.isEmpty());
      if (isLeft) this.#stopEarly("no time is left to start rollouts (dispatch_budget_s)");
      return undefined;
    }
    const again = this.#outages.next() ?? this.#retries.due();
    if (again && (this.#outages.hold(again) || this.#isOver(again))) return this.#take();
    if (again) return again;
    // Rows that wait for a retry are held in memory, so new rows wait when too many accumulate.
    if (this.#retries.size >= 2 * this.concurrency.current) return undefined;
    // A rollout that is tried again needs its slot: others may wait for it.
    if (this.#cohorts.size > 0 && this.#running.size + this.#retries.size >= this.concurrency.current)
      return undefined;
    const next = await this.#rows.next((agent) =>
      this.#outages.has(agent) ? Number.POSITIVE_INFINITY : this.#share(agent),
    );
    if (next && this.#outages.hold(next)) return undefined;
    if (next && this.#isOver(next)) return this.#take();
    return this.#isStopping ? undefined : next;
  }

  /** Running rollouts of an agent; those of an incomplete cohort do not count, so that it is completed first. */
  #share(agent: string): number {
    const running = this.#runningByAgent.get(agent) ?? 0;
    return Math.floor(running / (this.#cohorts.get(agent) ?? 1));
  }

  get #cohorts(): ReadonlyMap<string, number> {
    return this.#options.limits.cohorts ?? NO_COHORTS;
  }

  #isOver(queued: QueuedRow): boolean {
    return this.#options.executor.isOver?.(queued) ?? false;
  }

  /** Waits until a rollout ends, a retry is due or the settings change. */
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

  #start(queued: QueuedRow): Promise<void> | void {
    const { agent } = queued;
    const { executor, limits } = this.#options;
    const rollout = new StartedRollout(queued, executor.target(queued), limits.rolloutTimeoutMs);
    this.#running.set(rollout.id, rollout);
    this.#runningByAgent.set(agent, (this.#runningByAgent.get(agent) ?? 0) + 1);
    return executor.start(rollout, this);
  }

  async settle(rollout: StartedRollout, result: RunResult): Promise<boolean> {
    try {
      if (result.status === "unreachable") {
        this.#outages.unreachable(rollout.queued, result.server, result.message);
        return true;
      }
      const willRetry = await this.#recorder.record(rollout.queued, result);
      this.#ended(rollout, result, willRetry);
      return willRetry;
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      this.#left(rollout);
    }
  }

  broke(rollout: StartedRollout, error: unknown): void {
    this.fail(error);
    this.#left(rollout);
  }

  modelCalled(): void {
    this.progress.modelCalled();
  }

  modelAnswered(): void {
    this.progress.recovered();
  }

  #left(rollout: StartedRollout): void {
    const { id, agent } = rollout;
    if (this.#running.get(id) === rollout) {
      this.#running.delete(id);
      this.#runningByAgent.set(agent, (this.#runningByAgent.get(agent) ?? 1) - 1);
    }
    this.#wake();
  }

  #ended({ queued, startedAt, modelCalls }: StartedRollout, outcome: Tried, willRetry: boolean): void {
    const milliseconds = Math.round(performance.now() - startedAt);
    if (outcome.status === "completed") this.#budget?.ended(milliseconds);
    // Calls of a worker, or of an agent that does not report its stages.
    if ("modelCalls" in outcome)
      this.progress.modelCalled(Math.max(0, (outcome.modelCalls ?? 0) - modelCalls));
    this.progress.ended(outcome, queued, willRetry);
    const { taskIndex, rolloutIndex, agent, attempt } = queued;
    this.#options.onOutcome?.({ taskIndex, rolloutIndex, agent, attempt, milliseconds, outcome, willRetry });
  }

  #watchForOutages(): Outages {
    const { executor, limits, onNotice } = this.#options;
    const longestMs = limits.longestOutageMs ?? LONGEST_OUTAGE_MS;
    return new Outages({
      longestMs,
      probe: (server, signal) => executor.probe(server, signal),
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
      gaveUp: (message) =>
        this.#stopEarly(`${message}, and it has not come back within ${longestMs / 1000} s`),
    });
  }

  #stopEarly(reason: string): void {
    this.#stoppedEarly ??= reason;
    this.#wake();
  }

  #abortAll(reason: string): void {
    for (const rollout of this.running) this.#options.executor.stop(rollout, reason);
    this.#wake();
  }
}
