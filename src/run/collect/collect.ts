import { errorMessage } from "../../base/errors.ts";
import type { ProgressSnapshot } from "../../records/progress-snapshot.ts";
import type { CollectOptions, CollectResult, Verdict, WorkerResult } from "./collect-contract.ts";
import { CollectionProgress } from "./collection-progress.ts";
import { ConcurrencyLimit } from "./concurrency.ts";
import { Outages } from "./outages.ts";
import { RolloutCancelled } from "./outcome.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { RolloutRunner, type RunResult, type Tried } from "./rollout-runner.ts";
import { FairQueue, type QueuedRow, RetryQueue } from "./row-queues.ts";
import { StartedRollout } from "./started-rollout.ts";

/** How long the collection waits for an unreachable agent. */
const LONGEST_OUTAGE_MS = 300_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Runs every pending rollout with bounded concurrency, fairly among agents, and writes each result when it arrives. */
export class Collection {
  readonly concurrency: ConcurrencyLimit;
  readonly progress: CollectionProgress;
  readonly #options: CollectOptions;
  readonly #rows: FairQueue;
  readonly #runner: RolloutRunner;
  readonly #retries = new RetryQueue();
  readonly #running = new Map<string, StartedRollout>();
  readonly #runningByAgent = new Map<string, number>();
  readonly #outages: Outages;
  readonly #recorder: OutcomeRecorder;
  /** With workers: rollouts whose result is being written. */
  readonly #settling = new Set<string>();
  #paused = false;
  #stoppedEarly: string | undefined;
  #fatal: unknown;
  /** Incremented by every change that may let the loop continue. */
  #changes = 0;
  #wakeUp: () => void = () => {};

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#rows = new FairQueue(options.rows);
    this.#runner = new RolloutRunner({
      ...options,
      onModelCall: () => this.progress.modelCalled(),
      onModelAnswer: () => this.progress.recovered(),
    });
    this.concurrency = new ConcurrencyLimit(options.limits.concurrency);
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

  /** Number of rollouts in flight: running here, or queued for or running in workers. */
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
    if (rollout) this.#abort(rollout, reason);
    return rollout !== undefined;
  }

  isUnderWay(taskIndex: number, rolloutIndex: number): boolean {
    return this.#running.has(`${taskIndex}-${rolloutIndex}`);
  }

  /** Whether a worker that has this attempt should run it. */
  isWanted(taskIndex: number, rolloutIndex: number, attempt: number): boolean {
    const current = this.#running.get(`${taskIndex}-${rolloutIndex}`)?.attempt;
    return !this.isSettled(taskIndex, rolloutIndex) && (current ?? attempt) === attempt;
  }

  /** Whether a rollout has its result or was abandoned. */
  isSettled(taskIndex: number, rolloutIndex: number): boolean {
    return (
      this.#recorder.isSettled(taskIndex, rolloutIndex) ||
      (this.#options.workers?.isDone(taskIndex, rolloutIndex) ?? false)
    );
  }

  /**
   * Accepts the result of a worker. The first success of a rollout counts. A failure counts only for the expected
   * attempt: a disconnected worker may report one after another worker has replaced it.
   */
  async accept({ taskIndex, rolloutIndex, attempt, agent, result }: WorkerResult): Promise<Verdict> {
    const id = `${taskIndex}-${rolloutIndex}`;
    if (this.isSettled(taskIndex, rolloutIndex) || this.#settling.has(id)) return "late";
    const known = this.#running.get(id);
    if (result.status !== "completed" && known?.attempt !== attempt) return "superseded";
    if (result.status === "completed") this.#recorder.settle(taskIndex, rolloutIndex);
    const queued = { taskIndex, rolloutIndex, attempt, agent, row: {} };
    const rollout = known ?? new StartedRollout(queued, this.#runner.target(queued), null);
    this.#settling.add(id);
    await this.#settled(rollout, result).finally(() => this.#settling.delete(id));
    if (this.#fatal !== undefined) throw this.#fatal;
    return "counted";
  }

  /** Queues all rollouts in flight for the workers again. The queue ignores those that it still holds. */
  async sendAgain(): Promise<void> {
    for (const rollout of [...this.#running.values()]) await this.#options.workers?.enqueue(rollout);
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
    // Workers on other machines already treat a lost rollout as settled.
    if (this.#isStopping || this.#options.workers) return false;
    const running = this.#running.get(id);
    const queued = this.#recorder.reopen(id) ?? running?.queued;
    if (queued === undefined) return false;
    // Waits until the running attempt has ended: two attempts of one rollout would write two rows.
    if (running) this.#recorder.runAgain(id);
    running?.abort(new RolloutCancelled("stopped to be run again"));
    if (!running) this.#retries.add(queued, 0);
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
    const again = this.#outages.next() ?? this.#retries.due();
    if (again && (this.#outages.hold(again) || this.#isOver(again))) return this.#take();
    if (again) return again;
    // Rows that wait for a retry are held in memory, so new rows wait when too many accumulate.
    if (this.#retries.size >= 2 * this.concurrency.current) return undefined;
    const next = await this.#rows.next((agent) =>
      this.#outages.has(agent) ? Number.POSITIVE_INFINITY : (this.#runningByAgent.get(agent) ?? 0),
    );
    if (next && this.#outages.hold(next)) return undefined;
    if (next && this.#isOver(next)) return this.#take();
    return this.#isStopping ? undefined : next;
  }

  /** A worker may deliver the result of an earlier session before this session reaches the row. */
  #isOver({ taskIndex, rolloutIndex }: QueuedRow): boolean {
    return this.#options.workers !== undefined && this.isSettled(taskIndex, rolloutIndex);
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

  /** Runs a row in this process, or queues it for the workers; the promise of the queue resolves when it has room. */
  #start(queued: QueuedRow): Promise<void> | void {
    const { agent } = queued;
    const { workers, limits } = this.#options;
    const rollout = new StartedRollout(queued, this.#runner.target(queued), limits.rolloutTimeoutMs);
    this.#running.set(rollout.id, rollout);
    this.#runningByAgent.set(agent, (this.#runningByAgent.get(agent) ?? 0) + 1);
    if (workers) return workers.enqueue(rollout);
    this.#runner.run(rollout).then(
      (result) => this.#settled(rollout, result),
      (error: unknown) => {
        this.fail(error);
        this.#left(rollout);
      },
    );
  }

  async #settled(rollout: StartedRollout, result: RunResult): Promise<void> {
    try {
      if (result.status === "unreachable")
        this.#outages.unreachable(rollout.queued, result.server, result.message);
      else this.#ended(rollout, result, await this.#recorder.record(rollout.queued, result));
    } catch (error) {
      this.fail(error);
    } finally {
      this.#left(rollout);
    }
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
    // Calls of a worker, or of an agent that does not report its stages.
    if ("modelCalls" in outcome)
      this.progress.modelCalled(Math.max(0, (outcome.modelCalls ?? 0) - modelCalls));
    this.progress.ended(outcome, queued, willRetry);
    const { taskIndex, rolloutIndex, agent, attempt } = queued;
    this.#options.onOutcome?.({ taskIndex, rolloutIndex, agent, attempt, milliseconds, outcome, willRetry });
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
      gaveUp: (message) =>
        this.#stopEarly(`${message}, and it has not come back within ${longestMs / 1000} s`),
    });
  }

  #stopEarly(reason: string): void {
    this.#stoppedEarly ??= reason;
    this.#wake();
  }

  #abortAll(reason: string): void {
    for (const rollout of this.#running.values()) this.#abort(rollout, reason);
    this.#wake();
  }

  /** A rollout in a worker counts as cancelled immediately; a later result of it is late. */
  #abort(rollout: StartedRollout, reason: string): void {
    const { workers } = this.#options;
    if (!workers) {
      rollout.abort(new RolloutCancelled(reason));
      return;
    }
    if (this.#settling.has(rollout.id)) return;
    this.#recorder.settle(rollout.queued.taskIndex, rollout.queued.rolloutIndex);
    workers.withdraw(rollout);
    void this.#settled(rollout, { status: "cancelled", message: reason });
  }
}
