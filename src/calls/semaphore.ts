/** Runs at most `limit` tasks at a time; the others wait in order. `null`: no limit. */
export class Semaphore {
  #limit: number | null;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number | null) {
    this.#limit = checked(limit);
  }

  get limit(): number | null {
    return this.#limit;
  }

  /** Sets another limit. Tasks above a lower limit run to completion. */
  resize(limit: number | null): void {
    this.#limit = checked(limit);
    for (const next of this.#waiting) {
      if (this.#isFull) return;
      this.#waiting.delete(next);
      this.#running++;
      next();
    }
  }

  get #isFull(): boolean {
    return this.#limit !== null && this.#running >= this.#limit;
  }

  /** Runs the task when a slot is free; a caller that aborts while waiting never starts it. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isFull) await this.#turn(signal);
    else this.#running++;
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(start);
        reject(signal?.reason);
      };
      this.#waiting.add(start);
      signal?.addEventListener("abort", giveUp);
    });
  }

  // The slot passes to the next waiter without being freed, so a later caller cannot take it first.
  #release(): void {
    if (this.#limit !== null && this.#running > this.#limit) {
      this.#running--;
      return;
    }
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#running--;
  }
}

function checked(limit: number | null): number | null {
  if (limit !== null && !(limit >= 1))
    throw new RangeError(`A semaphore needs a limit of at least 1, not ${limit}.`);
  return limit;
}
