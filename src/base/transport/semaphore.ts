import { Waiters } from "./waiters.ts";

/**
 * Runs at most `limit` tasks at a time. `null`: no limit. Waiting tasks take turns by key, so a key with a hundred of them
 * delays a task of another key only by one. Tasks of one key run in order.
 */
export class Semaphore {
  #limit: number | null;
  #running = 0;
  /** Waiting tasks by key; the first key is next. */
  readonly #waiting = new Map<string, Waiters>();

  constructor(limit: number | null) {
    this.#limit = checked(limit);
  }

  get limit(): number | null {
    return this.#limit;
  }

  /** Sets another limit. Tasks above a lower limit run to completion. */
  resize(limit: number | null): void {
    this.#limit = checked(limit);
    while (!this.#isFull && this.#wakeNext()) this.#running++;
  }

  get #isFull(): boolean {
    return this.#limit !== null && this.#running >= this.#limit;
  }

  /** Runs the task when a slot is free; a caller that aborts while waiting never starts it. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal, key = ""): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isFull) await this.#wait(key, signal);
    else this.#running++;
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  // The slot passes to the next waiter without being freed, so a later caller cannot take it first.
  #release(): void {
    const isOver = this.#limit !== null && this.#running > this.#limit;
    if (isOver || !this.#wakeNext()) this.#running--;
  }

  async #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const waiters = this.#waiting.get(key) ?? new Waiters();
    this.#waiting.set(key, waiters);
    try {
      await waiters.wait(signal);
    } catch (error) {
      // The next task of this key goes to the end.
      if (waiters.size === 0 && this.#waiting.get(key) === waiters) this.#waiting.delete(key);
      throw error;
    }
  }

  /** Wakes a waiter of the next key, which then goes to the end. Returns false when there is no waiter. */
  #wakeNext(): boolean {
    for (const [key, waiters] of this.#waiting) {
      this.#waiting.delete(key);
      // The last waiter of the key may just have aborted.
      if (!waiters.wakeFirst()) continue;
      if (waiters.size > 0) this.#waiting.set(key, waiters);
      return true;
    }
    return false;
  }
}

function checked(limit: number | null): number | null {
  if (limit !== null && !(limit >= 1))
    throw new RangeError(`A semaphore needs a limit of at least 1, not ${limit}.`);
  return limit;
}
