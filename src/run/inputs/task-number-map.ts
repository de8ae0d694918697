import { RolloutKeyMap } from "../../records/metrics/door.ts";

const INITIAL_TASKS = 1024;

/**
 * A map from task index to integer. Indices close to the number of tasks, as derived ones always are, use four bytes;
 * others twenty.
 */
export class TaskNumberMap {
  /** Value plus one; 0: empty. */
  #near = new Uint32Array(INITIAL_TASKS);
  readonly #far = new RolloutKeyMap();
  #nearSize = 0;
  #calls = 0;

  get size(): number {
    return this.#nearSize + this.#far.size;
  }

  get(task: number): number | undefined {
    const stored = this.#near[task] ?? 0;
    if (stored !== 0) return stored - 1;
    return this.#far.size === 0 ? undefined : this.#far.get(task, 0);
  }

  /** Sets an integer from 0 to 2^32 − 2. */
  set(task: number, value: number): void {
    this.#calls++;
    if (!this.#isNear(task)) {
      this.#far.set(task, 0, value);
      return;
    }
    if (task >= this.#near.length) this.#grow(task);
    if (this.#near[task] === 0) this.#nearSize++;
    this.#near[task] = value + 1;
  }

  #isNear(task: number): boolean {
    if (!Number.isInteger(task) || task < 0 || task >= 2 * this.#calls + INITIAL_TASKS) return false;
    // An index stored in `#far` stays there.
    return this.#far.size === 0 || !this.#far.has(task, 0);
  }

  #grow(task: number): void {
    const larger = new Uint32Array(Math.max(this.#near.length * 2, task + 1));
    larger.set(this.#near);
    this.#near = larger;
  }
}
