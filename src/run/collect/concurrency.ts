import type { FailureClass } from "../../base/failures.ts";

/** Automatic concurrency starts at this value, grows by one per success and stays within these bounds. */
const START = 64;
const SMALLEST = 4;
const LARGEST = 1_024;
/** Minimum time between two decreases, so that failures of rollouts that are already running do not count again. */
const COOL_DOWN_MS = 2_000;

const OVERLOAD: ReadonlySet<string> = new Set<FailureClass>(["provider_rate_limit", "connection", "timeout"]);

/** The limit on concurrent rollouts: fixed, or adapted to failures of the servers. */
export class ConcurrencyLimit {
  readonly #smallest: number;
  readonly #largest: number;
  #limit: number;
  #fixed = false;
  #quietUntil = 0;

  /** `smallest` is the lowest automatic limit; no limit is higher than `largest`. */
  constructor(limit: number | null, smallest: number = SMALLEST, largest: number = Number.POSITIVE_INFINITY) {
    this.#smallest = Math.max(smallest, SMALLEST);
    this.#largest = largest;
    this.#limit = Math.max(START, this.#smallest);
    this.set(limit);
  }

  get current(): number {
    return Math.max(1, Math.floor(Math.min(this.#limit, this.#largest)));
  }

  get automatic(): boolean {
    return !this.#fixed;
  }

  /** Sets a fixed limit; null makes it automatic again. */
  set(limit: number | null): void {
    this.#fixed = limit !== null && limit > 0;
    if (limit !== null && limit > 0) this.#limit = limit;
  }

  succeeded(): void {
    if (!this.#fixed && this.#limit < LARGEST) this.#limit += 1;
  }

  failed(failureClass: string, now: number = performance.now()): void {
    if (this.#fixed || !OVERLOAD.has(failureClass) || now < this.#quietUntil) return;
    this.#limit = Math.max(this.#smallest, this.#limit / 2);
    this.#quietUntil = now + COOL_DOWN_MS;
  }
}
