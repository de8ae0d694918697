import { setMaxListeners } from "node:events";

/** Longest delay of a Node timer in milliseconds, about 24 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Node warns of a leak beyond ten listeners. Not 0 (no limit), because Node 20's fetch fails on such a signal. */
const MANY_LISTENERS = 1_000_000;

/** A controller whose signal many calls may listen to. */
export function abortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(MANY_LISTENERS, controller.signal);
  return controller;
}

/** An abort signal that fires with its parent or when the time is over. The creator of a deadline must call `clear`. */
export class Deadline {
  readonly milliseconds: number;
  readonly #controller = abortController();
  readonly #parent: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #passed = false;

  /** A deadline longer than Node's longest timer never expires; only its parent aborts it. */
  constructor(milliseconds: number, parent?: AbortSignal) {
    this.milliseconds = milliseconds;
    this.#parent = parent;
    if (parent?.aborted) {
      this.#controller.abort(parent.reason);
      return;
    }
    parent?.addEventListener("abort", this.#onParentAbort);
    if (milliseconds <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#expire(), milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time limit, and not the parent, aborted it. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Settles like `promise`, but rejects as soon as the deadline ends. */
  race<T>(promise: Promise<T>): Promise<T> {
    return untilAborted(promise, this.signal);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
  }

  readonly #onParentAbort = (): void => this.#controller.abort(this.#parent?.reason);

  #expire(): void {
    this.#passed = true;
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
    this.#controller.abort(new Error(`time limit of ${this.milliseconds} ms exceeded`));
  }
}

/** Runs a task with a time limit and passes it the signal. */
export async function withDeadline<T>(
  milliseconds: number,
  parent: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(milliseconds, parent);
  try {
    return await run(deadline.signal);
  } finally {
    deadline.clear();
  }
}

/** Settles like `promise`, but rejects as soon as the signal fires. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
    promise.then(
      (value) => {
        signal.removeEventListener("abort", onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener("abort", onAbort);
        reject(error);
      },
    );
  });
}

/** Waits until the promise has settled, but not longer than the given time. */
export async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([Promise.allSettled([promise]), timeIsUp]);
  clearTimeout(timer);
}

/** Waits for a duration; throws the reason if the signal fires first. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MS),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Milliseconds of a monotonic clock that stops while the machine is suspended. Unlike `performance.now()` it has the
 * same origin in all processes of a machine, so they can exchange its values.
 */
export function steadyNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
