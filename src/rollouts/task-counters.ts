import { RolloutKeyMap } from "../metrics/rollout-key-map.ts";

const INITIAL_TASKS = 1024;

/**
 * How many rollouts of each task there are so far. Indices near the number of tasks seen, as derived ones always are, take four
 * bytes; others twenty.
 */
export class TaskCounters {
  private near = new Uint32Array(INITIAL_TASKS);
  private readonly far = new RolloutKeyMap();
  private calls = 0;

  /** Adds `count` rollouts to a task; returns how many it had before. */
  add(taskIndex: number, count: number): number {
    this.calls++;
    if (!this.isNear(taskIndex)) {
      const before = this.far.get(taskIndex, 0) ?? 0;
      this.far.set(taskIndex, 0, before + count);
      return before;
    }
    if (taskIndex >= this.near.length) this.grow(taskIndex);
    const before = this.near[taskIndex] ?? 0;
    this.near[taskIndex] = before + count;
    return before;
  }

  private isNear(taskIndex: number): boolean {
    if (taskIndex < 0 || taskIndex >= 2 * this.calls + INITIAL_TASKS) return false;
    // An index that once was far stays there.
    return this.far.size === 0 || !this.far.has(taskIndex, 0);
  }

  private grow(taskIndex: number): void {
    const larger = new Uint32Array(Math.max(this.near.length * 2, taskIndex + 1));
    larger.set(this.near);
    this.near = larger;
  }
}
