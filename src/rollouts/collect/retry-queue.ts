import type { QueuedRow } from "./fair-queue.ts";

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/** Rows to retry, each after a delay that doubles with every attempt and is shortened by a random factor. */
export class RetryQueue {
  readonly #waiting: { row: QueuedRow; at: number }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(row: QueuedRow, attempt: number): void {
    const ceiling = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
    const at = performance.now() + Math.random() * ceiling;
    const index = this.#waiting.findLastIndex((other) => other.at <= at);
    this.#waiting.splice(index + 1, 0, { row, at });
  }

  /** A row whose delay is over; undefined without one. */
  due(): QueuedRow | undefined {
    const first = this.#waiting[0];
    if (!first || first.at > performance.now()) return undefined;
    this.#waiting.shift();
    return first.row;
  }

  /** Milliseconds until the next delay is over; undefined when nothing waits. */
  untilDue(): number | undefined {
    const first = this.#waiting[0];
    return first && Math.max(0, first.at - performance.now());
  }
}
