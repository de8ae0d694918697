import { errorMessage } from "../../base/errors.ts";
import { leastSharedLimit, shareAmongWorkers } from "../../servers/model-endpoint/door.ts";
import type { RunResult } from "../collect/collect-contract.ts";
import type { RunBoard, RunRecord } from "../queue/board.ts";
import type { JetStreamQueue } from "../queue/jetstream-queue.ts";
import { ResourceMeter } from "../scale/resources.ts";
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
  board: RunBoard;
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

interface ServedRun {
  /** The latest record. */
  record: RunRecord;
  /** Set when the run is joined. */
  joined?: JoinedRun;
  /** Why the run cannot be joined. */
  problem?: string;
  /** When this worker was first listed among the workers that share the limits of the run. */
  listedAt?: number;
  /** When the collector became unreachable. */
  awaySince?: number;
  /** Ends the sharing of the budget. */
  endBudget?: () => void;
}

/** The runs that a worker serves. Joins new runs, pulls their rollouts, and leaves finished runs. */
export class ServedRuns {
  readonly #options: ServedRunsOptions;
  readonly #runs = new Map<string, ServedRun>();
  /** Time of the last attempt to join a run; infinite while joining. */
  readonly #triedAt = new Map<string, number>();
  /** Measures resources while the worker serves runs. */
  meter: ResourceMeter | undefined;

  constructor(options: ServedRunsOptions) {
    this.#options = options;
  }

  /** Why runs cannot be joined, by run. */
  get problems(): Record<string, string> {
    const problems: Record<string, string> = {};
    for (const [run, { problem }] of this.#runs) if (problem !== undefined) problems[run] = problem;
    return problems;
  }

  /** Names of the joined runs. */
  get names(): string[] {
    return [...this.#runs].filter(([, { joined }]) => joined).map(([run]) => run);
  }

  get shortestLeaseMs(): number {
    return Math.min(...[...this.#runs.values()].map(({ record }) => record.lease_ms));
  }

  joined(run: string): JoinedRun | undefined {
    return this.#runs.get(run)?.joined;
  }

  isServed(run: string): boolean {
    return this.#runs.has(run);
  }

  isCollectorAway(run: string): boolean {
    return this.#runs.get(run)?.awaySince !== undefined;
  }

  /** Joins new runs and leaves finished runs. */
  async update(): Promise<void> {
    const { board, options } = this.#options;
    const live = (await board.runs()).filter(
      ({ run, state }) => state !== "ended" && (options.runs?.includes(run) ?? true),
    );
    for (const run of this.#runs.keys())
      if (!live.some((record) => record.run === run)) await this.#leave(run);
    for (const record of live) await this.#follow(record);
  }

  async close(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const { endBudget } of runs) endBudget?.();
    this.#stopMeter();
    await Promise.allSettled(runs.map(({ joined }) => joined?.close()));
  }

  async #follow(record: RunRecord): Promise<void> {
    const { run } = record;
    const { draining, queue } = this.#options;
    const served = this.#runs.get(run) ?? { record };
    served.record = record;
    this.#runs.set(run, served);
    const { joined, awaySince = Number.POSITIVE_INFINITY } = served;
    if (!joined) {
      const triedAt = this.#triedAt.get(run);
      if (triedAt !== undefined && performance.now() - triedAt < JOIN_AGAIN_MS) return;
      if (!record.agents.some((agent) => this.#canRun(agent)) || draining.aborted) return;
      this.#triedAt.set(run, Number.POSITIVE_INFINITY);
      void this.#join(record);
      return;
    }
    this.#shareLimits();
    const isOff =
      record.state === "paused" ||
      draining.aborted ||
      !this.#hasPlace(served) ||
      performance.now() - awaySince > COLLECTOR_AWAY_MS;
    if (isOff) await queue.unfollow(run);
    else if (!joined.isCollectorAway) await this.#take(record, joined);
  }

  async #join(record: RunRecord): Promise<void> {
    const { run, name } = record;
    const { worker, board, options, over, running, onNotice, onChange } = this.#options;
    const latest = () => this.#runs.get(run)?.record ?? record;
    try {
      const joined = await JoinedRun.join(latest, {
        ...options,
        worker,
        onMeter: (meter) => {
          const served = this.#runs.get(run);
          served?.endBudget?.();
          if (served) served.endBudget = shareBudget(board, run, worker, meter);
        },
        signal: over,
        onServerEvent: (event) => options.onEvent?.({ type: "server", run, event }),
        onNotice,
      });
      const served = this.#runs.get(run);
      if (!served) return await joined.close();
      joined.crashed?.catch((error: unknown) => void this.#crashed(run, error));
      joined.onCollectorAway = () => this.#noteAway(served, joined);
      served.problem = undefined;
      served.joined = joined;
      this.meter ??= ResourceMeter.start(() => running.size);
      const agents = record.agents.filter((agent) => this.#canRun(agent)).map((agent) => agent.name);
      options.onEvent?.({ type: "joined", run, name, agents });
      onChange();
      await this.#follow(latest());
    } catch (error) {
      this.#triedAt.set(run, performance.now());
      if (over.aborted) return;
      onNotice(`Run ${run} cannot be joined: ${errorMessage(error)}`);
      const served = this.#runs.get(run);
      if (!served) return;
      served.problem = errorMessage(error);
      onChange();
    }
  }

  async #take({ run, agents, lease_ms: leaseMs }: RunRecord, joined: JoinedRun): Promise<void> {
    const { queue } = this.#options;
    for (const agent of agents)
      if (this.#canRun(agent))
        await queue.follow({ run, agent: agent.name, weight: agent.weight, leaseMs, store: joined });
    queue.suspend(run, joined.isCollectorAway);
  }

  /** The servers of the run are gone. Other workers take over, and this worker restarts the servers later. */
  async #crashed(run: string, error: unknown): Promise<void> {
    this.#options.onNotice(`The servers of run ${run} ended: ${errorMessage(error)}`);
    await this.#leave(run);
    this.#triedAt.set(run, performance.now());
  }

  async #leave(run: string): Promise<void> {
    const { queue, running, options, onChange } = this.#options;
    const { joined, endBudget } = this.#runs.get(run) ?? {};
    this.#runs.delete(run);
    this.#triedAt.delete(run);
    endBudget?.();
    await queue.unfollow(run);
    running.withdraw(run, "the run is over");
    if (!joined) return;
    options.onEvent?.({ type: "left", run });
    if (this.names.length === 0) this.#stopMeter();
    onChange();
    await joined.close();
  }

  /** While the collector of a run is unreachable, other runs get its slots. */
  #noteAway(served: ServedRun, joined: JoinedRun): void {
    const isAway = joined.isCollectorAway;
    served.awaySince = isAway ? performance.now() : undefined;
    this.#options.queue.suspend(served.record.run, isAway);
    this.#options.onChange();
  }

  /** Divides the limits on calls to a model endpoint by the largest number of workers of any run. */
  #shareLimits(): void {
    const { worker } = this.#options;
    const joined = [...this.#runs.values()].filter((served) => served.joined);
    const lists = joined.map(({ record }) => record.workers).filter((ids) => ids.includes(worker));
    const [longest] = lists.sort((a, b) => b.length - a.length);
    if (longest) shareAmongWorkers(longest.length, longest.indexOf(worker));
  }

  /**
   * Where a limit is shared, a worker waits until the others have reduced their share. Pulls nothing if its share is
   * zero.
   */
  #hasPlace(served: ServedRun): boolean {
    const limit = leastSharedLimit();
    if (limit === undefined) return true;
    const { workers } = served.record;
    const position = workers.indexOf(this.#options.worker);
    if (position < 0 || position >= limit) {
      served.listedAt = undefined;
      return false;
    }
    served.listedAt ??= performance.now();
    return workers.length === 1 || performance.now() - served.listedAt >= MAKE_ROOM_MS;
  }

  #canRun({ needs }: { needs: readonly string[] }): boolean {
    return needs.every((need) => this.#options.tags.includes(need));
  }

  #stopMeter(): void {
    this.meter?.close();
    this.meter = undefined;
  }
}
