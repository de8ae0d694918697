import type { RunResult } from "../collect/collect-contract.ts";
import { RolloutCancelled } from "../collect/outcome.ts";
import type { StartedRollout } from "../collect/started-rollout.ts";
import type { Lease } from "../queue/jetstream-queue.ts";

/** The rollout was aborted because its result is no longer needed. */
export class WithdrawnRollout extends RolloutCancelled {}

/** A rollout that the worker has pulled and not settled. */
export interface UnsettledRollout {
  run: string;
  /** Undefined until the row is loaded. */
  rollout: StartedRollout | undefined;
  /** Whether the result is being saved in the store of the run. */
  isDone: boolean;
  /** Further deliveries of the rollout. They are returned when it ends: the broker would deliver them again at once. */
  repeated: Lease<RunResult>[];
}

/** The unsettled rollouts of a worker. Finished rollouts stay until the collector has received their results. */
export class RunningRollouts {
  readonly #entries = new Map<string, UnsettledRollout>();

  get size(): number {
    return this.#entries.size;
  }

  /** Whether no rollout is running. Rollouts whose row is not loaded yet do not count. */
  get isIdle(): boolean {
    return ![...this.#entries.values()].some(({ rollout }) => rollout !== undefined);
  }

  get(key: string): UnsettledRollout | undefined {
    return this.#entries.get(key);
  }

  add(key: string, run: string): UnsettledRollout {
    const entry: UnsettledRollout = { run, rollout: undefined, isDone: false, repeated: [] };
    this.#entries.set(key, entry);
    return entry;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * Number of results that unreachable collectors have not received. For each run it never exceeds the worker's
   * concurrency.
   */
  undelivered(isAway: (run: string) => boolean): number {
    return [...this.#entries.values()].filter(({ run, isDone }) => isDone && isAway(run)).length;
  }

  countByRun(runs: Iterable<string>): Record<string, number> {
    const counts = Object.fromEntries([...runs].map((run) => [run, 0]));
    for (const { run } of this.#entries.values()) counts[run] = (counts[run] ?? 0) + 1;
    return counts;
  }

  /** Aborts the rollouts of a run, or one of them. */
  withdraw(run: string, reason: string, key?: string): void {
    for (const [name, entry] of this.#entries)
      if (entry.run === run && (key ?? name) === name) entry.rollout?.abort(new WithdrawnRollout(reason));
  }

  cancelAll(reason: string): void {
    for (const { rollout } of this.#entries.values()) rollout?.abort(new RolloutCancelled(reason));
  }
}
