import { RolloutCancelled } from "../../rollouts/collect/outcome.ts";
import type { StartedRollout } from "../../rollouts/collect/started-rollout.ts";

/** The rollout was aborted because its result is no longer needed. */
export class WithdrawnRollout extends RolloutCancelled {}

interface Running {
  /** Undefined until the row is loaded. */
  rollout: StartedRollout | undefined;
  run: string;
  /** Whether the result is being saved in the store of the run. */
  isDone: boolean;
}

/** The unsettled rollouts of a worker. Finished rollouts stay until the collector has received their results. */
export class RunningRollouts {
  readonly #entries = new Map<string, Running>();

  get size(): number {
    return this.#entries.size;
  }

  /** Whether no rollout is running. Rollouts whose row is not loaded yet do not count. */
  get isIdle(): boolean {
    return ![...this.#entries.values()].some(({ rollout }) => rollout !== undefined);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  add(key: string, run: string): void {
    this.#entries.set(key, { rollout: undefined, run, isDone: false });
  }

  started(key: string, rollout: StartedRollout): void {
    const entry = this.#entries.get(key);
    if (entry) entry.rollout = rollout;
  }

  isStarted(key: string): boolean {
    return this.#entries.get(key)?.rollout !== undefined;
  }

  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.isDone = true;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * Number of results that unreachable collectors have not received. For each run it never exceeds the worker's
   * concurrency.
   */
  undelivered(isAway: (run: string) => boolean): number {
    let count = 0;
    for (const { run, isDone } of this.#entries.values()) if (isDone && isAway(run)) count++;
    return count;
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
