/**
 * Runs at most `limit` tasks at a time. Waiting tasks take turns by key, so a key with a hundred waiting tasks delays a task
 * of another key only by one.
 */
export class FairSlots {
  readonly limit: number;
  #running = 0;
  /** Waiting tasks by key; the first key is next. */
  readonly #queues = new Map<string, (() => void)[]>();

  constructor(limit: number) {
    if (!(limit >= 1)) throw new RangeError(`There must be at least 1 slot, not ${limit}.`);
    this.limit = limit;
  }

  async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.limit) this.#running++;
    else await this.#turn(key, signal);
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  #turn(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(key) ?? [];
      const start = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        queue.splice(queue.indexOf(start), 1);
        if (queue.length === 0) this.#queues.delete(key);
        reject(signal?.reason);
      };
      queue.push(start);
      this.#queues.set(key, queue);
      signal?.addEventListener("abort", giveUp);
    });
  }

  /** Hands the slot to the next key in turn, which then goes to the end. */
  #release(): void {
    const [next] = this.#queues;
    if (next === undefined) {
      this.#running--;
      return;
    }
    const [key, queue] = next;
    const start = queue.shift();
    this.#queues.delete(key);
    if (queue.length > 0) this.#queues.set(key, queue);
    start?.();
  }
}
