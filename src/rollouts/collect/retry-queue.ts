const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

interface Waiting<T> {
  value: T;
  at: number;
}

/** Items to retry, each after a delay that doubles with every attempt and is shortened by a random factor. */
export class RetryQueue<T> {
  readonly #waiting: Waiting<T>[] = [];
  readonly #random: () => number;
  readonly #now: () => number;

  constructor(options: { random?: () => number; now?: () => number } = {}) {
    this.#random = options.random ?? Math.random;
    this.#now = options.now ?? (() => performance.now());
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(value: T, attempt: number): void {
    const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
    const at = this.#now() + this.#random() * ceiling;
    const index = this.#waiting.findLastIndex((other) => other.at <= at);
    this.#waiting.splice(index + 1, 0, { value, at });
  }

  /** An item whose delay is over; undefined without one. */
  due(): T | undefined {
    const first = this.#waiting[0];
    if (!first || first.at > this.#now()) return undefined;
    this.#waiting.shift();
    return first.value;
  }

  /** Milliseconds until the next delay is over; undefined when nothing waits. */
  untilDue(): number | undefined {
    const first = this.#waiting[0];
    return first && Math.max(0, first.at - this.#now());
  }
}
