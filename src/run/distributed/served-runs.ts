import { errorMessage } from "../../errors.ts";
import { leastSharedLimit, shareAmongWorkers } from "../../model-endpoint/limit-shares.ts";
import type { Board, RunRecord } from "../../queue/board.ts";
import type { JetStreamQueue } from "../../queue/jetstream-queue.ts";
import type { RunResult } from "../../rollouts/collect/rollout-runner.ts";
import { ResourceMeter } from "../scale/resource-meter.ts";
import { JoinedRun } from "./joined-run.ts";
import type { WorkerOptions } from "./options.ts";
import type { RunningRollouts } from "./running-rollouts.ts";
import { shareBudget } from "./shared-limits.ts";

/** Delay before the worker tries again to join a run. */
const JOIN_AGAIN_MS = 30_000;
/** Time within which other workers see a new worker and reduce their share of calls. */
const MAKE_ROOM_MS = 3_000;
/**
 * How long a collector may be unreachable before this worker returns its buffered references, because other workers may
 * reach the collector.
 */
const COLLECTOR_AWAY_MS = 60_000;

interface ServedRunsOptions {
  worker: string;
  board: Board;
  queue: JetStreamQueue<RunResult>;
  options: WorkerOptions;
  tags: readonly string[];
  running: RunningRollouts;
  /** Aborted when the worker must not join further runs. */
  draining: AbortSignal;
  /** Aborted when the worker ends. */
  over: AbortSignal;
  onNotice: (text: string) => void;
  /** Called when a run was joined or left, and when its collector became unreachable or reachable. */
  onChange: () => void;
}

/** The runs that a worker serves. Joins new runs, pulls their rollouts, and leaves finished runs. */
export class ServedRuns {
  readonly #options: ServedRunsOptions;
  /** The latest records of runs that this worker serves. */
  readonly #records = new Map<string, RunRecord>();
  readonly #joined = new Map<string, JoinedRun>();
  /** Time of the last attempt to join a run; infinite while joining. */
  readonly #joining = new Map<string, number>();
  /** When this worker was first listed among the workers that share the limits of a run. */
  readonly #listedAt = new Map<string, number>();
  /** End the sharing of budgets, by run. */
  readonly #endBudgets = new Map<string, () => void>();
  /** When the collector of a run became unreachable. */
  readonly #awaySince = new Map<string, number>();
  readonly #problems = new Map<string, string>();
  /** Measures resources while the worker serves runs. */
  meter: ResourceMeter | undefined;

  constructor(options: ServedRunsOptions) {
    this.#options = options;
  }

  /** Why runs cannot be joined, by run. */
  get problems(): Record<string, string> {
    return Object.fromEntries(this.#problems);
  }

  /** Names of the joined runs. */
  get names(): string[] {
    return [...this.#joined.keys()];
  }

  get shortestLeaseMs(): number {
    return Math.min(...[...this.#records.values()].map(({ lease_ms }) => lease_ms));
  }

  joined(run: string): JoinedRun | undefined {
    return this.#joined.get(run);
  }

  isServed(run: string): boolean {
    return this.#records.has(run);
  }

  isCollectorAway(run: string): boolean {
    return this.#awaySince.has(run);
  }

  /** Joins new runs and leaves finished runs. */
  async update(): Promise<void> {
    const { board, options } = this.#options;
    const live = new Map<string, RunRecord>();
    for (const record of await board.runs())
      if (record.state !== "ended" && (options.runs?.includes(record.run) ?? true))
        live.set(record.run, record);
    for (const run of this.#records.keys()) if (!live.has(run)) await this.#leave(run);
    for (const record of live.values()) await this.#follow(record);
  }

  async close(): Promise<void> {
    for (const end of this.#endBudgets.values()) end();
    this.#stopMeter();
    await Promise.allSettled([...this.#joined.values()].map((joined) => joined.close()));
  }

  async #follow(record: RunRecord): Promise<void> {
    const { run } = record;
    const { draining, queue } = this.#options;
    this.#records.set(run, record);
    const joined = this.#joined.get(run);
    if (!joined) {
      const triedAt = this.#joining.get(run);
      if (triedAt !== undefined && performance.now() - triedAt < JOIN_AGAIN_MS) return;
      if (!record.agents.some((agent) => this.#canRun(agent)) || draining.aborted) return;
      this.#joining.set(run, Number.POSITIVE_INFINITY);
      void this.#join(record);
      return;
    }
    joined.record = record;
    this.#shareLimits();
    const isOff =
      record.state === "paused" ||
      draining.aborted ||
      !this.#hasPlace(record) ||
      performance.now() - (this.#awaySince.get(run) ?? Number.POSITIVE_INFINITY) > COLLECTOR_AWAY_MS;
    if (isOff) await queue.unfollow(run);
    else if (!joined.isCollectorAway) await this.#take(joined);
  }

  async #join(record: RunRecord): Promise<void> {
    const { run, name } = record;
    const { worker, board, options, over, running, onNotice, onChange } = this.#options;
    try {
      const joined = await JoinedRun.join(() => this.#records.get(run) ?? record, {
        ...options,
        worker,
        onMeter: (meter) => {
          this.#endBudgets.get(run)?.();
          this.#endBudgets.set(run, shareBudget(board, run, worker, meter));
        },
        signal: over,
        onServerEvent: (event) => options.onEvent?.({ type: "server", run, event }),
        onNotice,
      });
      if (!this.#records.has(run)) return await joined.close();
      joined.crashed?.catch((error: unknown) => void this.#crashed(run, error));
      joined.onCollectorAway = () => this.#noteAway(run, joined);
      this.#problems.delete(run);
      this.#joined.set(run, joined);
      this.meter ??= ResourceMeter.start(() => running.size);
      const agents = record.agents.filter((agent) => this.#canRun(agent)).map((agent) => agent.name);
      options.onEvent?.({ type: "joined", run, name, agents });
      onChange();
      await this.#follow(this.#records.get(run) ?? record);
    } catch (error) {
      this.#joining.set(run, performance.now());
      if (over.aborted) return;
      onNotice(`Run ${run} cannot be joined: ${errorMessage(error)}`);
      if (!this.#records.has(run)) return;
      this.#problems.set(run, errorMessage(error));
      onChange();
    }
  }

  async #take(joined: JoinedRun): Promise<void> {
    const { queue } = this.#options;
    const { run, agents, lease_ms: leaseMs } = joined.record;
    for (const agent of agents)
      if (this.#canRun(agent))
        await queue.follow({ run, agent: agent.name, weight: agent.weight, leaseMs, store: joined });
    queue.suspend(run, joined.isCollectorAway);
  }

  /** The servers of the run are gone. Other workers take over, and this worker restarts the servers later. */
  async #crashed(run: string, error: unknown): Promise<void> {
    this.#options.onNotice(`The servers of run ${run} ended: ${errorMessage(error)}`);
    await this.#leave(run);
    this.#joining.set(run, performance.now());
  }

  async #leave(run: string): Promise<void> {
    const { queue, running, options, onChange } = this.#options;
    const joined = this.#joined.get(run);
    this.#records.delete(run);
    this.#joining.delete(run);
    this.#joined.delete(run);
    this.#listedAt.delete(run);
    this.#awaySince.delete(run);
    this.#problems.delete(run);
    this.#endBudgets.get(run)?.();
    this.#endBudgets.delete(run);
    await queue.unfollow(run);
    running.withdraw(run, "the run is over");
    if (!joined) return;
    options.onEvent?.({ type: "left", run });
    if (this.#joined.size === 0) this.#stopMeter();
    onChange();
    await joined.close();
  }

  /** While the collector of a run is unreachable, other runs get its slots. */
  #noteAway(run: string, joined: JoinedRun): void {
    const isAway = joined.isCollectorAway;
    if (isAway) this.#awaySince.set(run, performance.now());
    else this.#awaySince.delete(run);
    this.#options.queue.suspend(run, isAway);
    this.#options.onChange();
  }

  /** Divides the limits on calls to a model endpoint by the largest number of workers of any run. */
  #shareLimits(): void {
    const { worker } = this.#options;
    const lists = [...this.#joined.values()].map(({ record }) => record.workers);
    const [longest = []] = lists.filter((ids) => ids.includes(worker)).sort((a, b) => b.length - a.length);
    if (longest.length > 0) shareAmongWorkers(longest.length, longest.indexOf(worker));
  }

  /**
   * Where a limit is shared, a worker waits until the others have reduced their share. Pulls nothing if its share is
   * zero.
   */
  #hasPlace({ run, workers }: RunRecord): boolean {
    const limit = leastSharedLimit();
    if (limit === undefined) return true;
    const position = workers.indexOf(this.#options.worker);
    if (position < 0 || position >= limit) {
      this.#listedAt.delete(run);
      return false;
    }
    const since = this.#listedAt.get(run) ?? performance.now();
    this.#listedAt.set(run, since);
    return workers.length === 1 || performance.now() - since >= MAKE_ROOM_MS;
  }

  #canRun({ needs }: { needs: readonly string[] }): boolean {
    return needs.every((need) => this.#options.tags.includes(need));
  }

  #stopMeter(): void {
    this.meter?.close();
    this.meter = undefined;
  }
}
