import { Waiters } from "./waiters.ts";

/** Runs at most `limit` tasks at a time; the others wait in order. `null`: no limit. */
export class Semaphore {
  #limit: number | null;
  #running = 0;
  readonly #waiters = new Waiters();

  constructor(limit: number | null) {
    this.#limit = checked(limit);
  }

  get limit(): number | null {
    return this.#limit;
  }

  /** Sets another limit. Tasks above a lower limit run to completion. */
  resize(limit: number | null): void {
    this.#limit = checked(limit);
    while (this.#waiters.size > 0 && !this.#isFull) {
      this.#running++;
      this.#waiters.wakeFirst();
    }
  }

  get #isFull(): boolean {
    return this.#limit !== null && this.#running >= this.#limit;
  }

  /** Runs the task when a slot is free; a caller that aborts while waiting never starts it. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isFull) await this.#waiters.wait(signal);
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
    if (isOver || !this.#waiters.wakeFirst()) this.#running--;
  }
}

function checked(limit: number | null): number | null {
  if (limit !== null && !(limit >= 1))
    throw new RangeError(`A semaphore needs a limit of at least 1, not ${limit}.`);
  return limit;
}
