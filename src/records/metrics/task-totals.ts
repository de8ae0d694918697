import { GrowableDoubles, GrowableIntegers } from "./growable-array.ts";

/** Tasks with the same number and the same sum of rewards. */
export interface TaskKind {
  sum: number;
  count: number;
  tasks: number;
}

/**
 * The totals of the rewards of each task that intervals need, 16 bytes per task, because runs can have a million tasks.
 */
export class TaskTotals {
  /** The sum of a task's rewards, their number, and how many of them reach the threshold. */
  readonly sums = new GrowableDoubles();
  readonly counts = new GrowableIntegers();
  readonly passed = new GrowableIntegers();
  readonly threshold: number;
  rollouts = 0;
  /** Largest number of rewards of a task. */
  longest = 0;
  /** Whether every reward is in [0, 1], so that every mean is too. */
  isUnit = true;

  constructor(threshold: number) {
    this.threshold = threshold;
  }

  static of(tasks: Iterable<ArrayLike<number>>, threshold: number): TaskTotals {
    const totals = new TaskTotals(threshold);
    for (const task of tasks) totals.add(task);
    return totals;
  }

  /** Adds a task; a task without rewards does not count. */
  add(rewards: ArrayLike<number>): void {
    const task = this.tasks;
    for (let index = 0; index < rewards.length; index++) this.addReward(task, rewards[index] ?? Number.NaN);
  }

  /** Adds a reward to the task with this number; the next number starts a new task. */
  addReward(task: number, reward: number): void {
    if (task === this.tasks) this.begin();
    const count = this.counts.at(task) + 1;
    this.sums.values[task] = this.sums.at(task) + reward;
    this.counts.values[task] = count;
    if (reward >= this.threshold) this.passed.values[task] = this.passed.at(task) + 1;
    if (!isInUnit(reward)) this.isUnit = false;
    this.rollouts++;
    this.longest = Math.max(this.longest, count);
  }

  /** Starts a task without rewards. */
  begin(): void {
    this.sums.push(0);
    this.counts.push(0);
    this.passed.push(0);
  }

  /** Adds the tasks of `others`, which must have the same threshold. */
  addTasks(others: TaskTotals): void {
    for (let task = 0; task < others.tasks; task++) {
      this.sums.push(others.sums.at(task));
      this.counts.push(others.counts.at(task));
      this.passed.push(others.passed.at(task));
    }
    if (!others.isUnit) this.isUnit = false;
    this.rollouts += others.rollouts;
    this.longest = Math.max(this.longest, others.longest);
  }

  get tasks(): number {
    return this.sums.length;
  }

  /** The distinct tasks and the number of each; undefined if there are more than `most`. */
  kinds(most: number): TaskKind[] | undefined {
    const found = new Map<number, Map<number, TaskKind>>();
    let different = 0;
    for (let task = 0; task < this.tasks; task++) {
      const sum = this.sums.at(task);
      const count = this.counts.at(task);
      let bySum = found.get(count);
      if (!bySum) {
        bySum = new Map();
        found.set(count, bySum);
      }
      const kind = bySum.get(sum);
      if (kind) kind.tasks++;
      else if (++different > most) return undefined;
      else bySum.set(sum, { sum, count, tasks: 1 });
    }
    return [...found.values()].flatMap((bySum) => [...bySum.values()]);
  }

  /** The sum of all rewards. */
  get total(): number {
    let total = 0;
    for (let task = 0; task < this.tasks; task++) total += this.sums.at(task);
    return total;
  }
}

export function isInUnit(reward: number): boolean {
  return reward >= 0 && reward <= 1;
}
