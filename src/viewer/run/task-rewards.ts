import { TaskTotals } from "../../metrics/task-totals.ts";
import type { RowColumns } from "../index/row-columns.ts";

/** Rewards by task. Keeps sums instead of lists of rewards, because runs can have a million rows. */
export class TaskRewards {
  readonly totals: TaskTotals;
  readonly #places = new Map<number, number>();
  /** Rows without a task; each counts as one. */
  withoutTask = 0;

  constructor(threshold: number) {
    this.totals = new TaskTotals(threshold);
  }

  /** Adds the reward of a row, which must have one. */
  add(columns: RowColumns, row: number, reward: number): void {
    const task = columns.task(row);
    const next = this.totals.tasks;
    if (Number.isNaN(task)) {
      this.withoutTask++;
      this.totals.addReward(next, reward);
      return;
    }
    const place = this.#places.get(task);
    if (place === undefined) this.#places.set(task, next);
    this.totals.addReward(place ?? next, reward);
  }
}
