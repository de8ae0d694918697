import { tQuantile } from "./distributions.ts";
import { GrowableDoubles, GrowableIntegers } from "./growable-array.ts";
import { TaskNumberMap } from "./task-number-map.ts";
import { isInUnit } from "./task-totals.ts";

const PROBABILITY = 0.975;
/** About twenty megabytes if tasks are numbered in order; a run with more tasks has no interval while it runs. */
const MAX_TASKS = 1_000_000;

/**
 * `clusteredMean` of rewards that arrive one by one, in any order: a count and a sum per task, and three sums over the
 * tasks, so that the cost per reward is constant.
 */
export class RunningClusteredMean {
  readonly #places = new TaskNumberMap();
  readonly #counts = new GrowableIntegers();
  readonly #sums = new GrowableDoubles();
  readonly #maxTasks: number;
  /** Sums are relative to the first reward: a large common offset would otherwise hide the differences. */
  #origin = 0;
  #count = 0;
  #total = 0;
  /** Over the tasks: sum², count · sum, count². */
  #squares = 0;
  #products = 0;
  #squaredCounts = 0;
  #tooMany = false;
  #isUnit = true;

  constructor(maxTasks = MAX_TASKS) {
    this.#maxTasks = maxTasks;
  }

  add(task: number, reward: number): void {
    if (this.#count === 0) this.#origin = reward;
    if (!isInUnit(reward)) this.#isUnit = false;
    const value = reward - this.#origin;
    this.#count++;
    this.#total += value;
    const place = this.#placeOf(task);
    if (place === undefined) return;
    const [count, sum] = [this.#counts.at(place), this.#sums.at(place)];
    this.#squares += (2 * sum + value) * value;
    this.#products += sum + (count + 1) * value;
    this.#squaredCounts += 2 * count + 1;
    this.#counts.values[place] = count + 1;
    this.#sums.values[place] = sum + value;
  }

  get mean(): number | null {
    return this.#count === 0 ? null : this.#origin + this.#total / this.#count;
  }

  /** The ends of the 95 % interval; null with fewer than two tasks. */
  get interval(): [low: number, high: number] | null {
    const tasks = this.#places.size;
    if (tasks < 2 || this.#tooMany) return null;
    const mean = this.#total / this.#count;
    const spread = this.#squares - 2 * mean * this.#products + mean * mean * this.#squaredCounts;
    const error = Math.sqrt((tasks / (tasks - 1)) * Math.max(0, spread)) / this.#count;
    const half = tQuantile(PROBABILITY, tasks - 1) * error;
    const value = this.#origin + mean;
    // If all rewards are in [0, 1], the interval is clipped to that range.
    return this.#isUnit
      ? [Math.max(0, value - half), Math.min(1, value + half)]
      : [value - half, value + half];
  }

  #placeOf(task: number): number | undefined {
    const known = this.#places.get(task);
    if (known !== undefined) return known;
    if (this.#places.size >= this.#maxTasks) {
      this.#tooMany = true;
      return undefined;
    }
    const place = this.#counts.length;
    this.#places.set(task, place);
    this.#counts.push(0);
    this.#sums.push(0);
    return place;
  }
}
