import { clusteredMean, TaskTotals } from "../../records/metrics/door.ts";
import { TaskNumberMap } from "../inputs/task-number-map.ts";

/** About twenty megabytes if tasks are numbered in order; a run with more tasks has no interval while it runs. */
const MAX_TASKS = 1_000_000;

/** `clusteredMean` of rewards that arrive one by one, in any order. */
export class RunningClusteredMean {
  readonly #positions = new TaskNumberMap();
  readonly #totals = new TaskTotals(1);
  readonly #maxTasks: number;
  #count = 0;
  #sum = 0;

  constructor(maxTasks = MAX_TASKS) {
    this.#maxTasks = maxTasks;
  }

  add(task: number, reward: number): void {
    this.#count++;
    this.#sum += reward;
    const known = this.#positions.get(task);
    const position = known ?? this.#totals.tasks;
    if (position >= this.#maxTasks) return;
    if (known === undefined) this.#positions.set(task, position);
    this.#totals.addReward(position, reward);
  }

  get mean(): number | null {
    return this.#count === 0 ? null : this.#sum / this.#count;
  }

  /** The ends of the 95 % interval; null with fewer than two tasks. */
  get interval(): [low: number, high: number] | null {
    if (this.#totals.tasks < 2 || this.#totals.rollouts < this.#count) return null;
    const { low, high } = clusteredMean(this.#totals);
    return low === null || high === null ? null : [low, high];
  }
}
