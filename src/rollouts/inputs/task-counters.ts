import { TaskNumberMap } from "../../metrics/task-number-map.ts";

/** How many rollouts of each task there are so far. */
export class TaskCounters {
  readonly #counts = new TaskNumberMap();

  /** Adds `count` rollouts to a task; returns how many it had before. */
  add(taskIndex: number, count: number): number {
    const before = this.#counts.get(taskIndex) ?? 0;
    this.#counts.set(taskIndex, before + count);
    return before;
  }
}
