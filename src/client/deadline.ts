import { LazySignal } from "./lazy-signal.ts";
import type { StopSignal } from "./stop-signal.ts";

/**
 * Something that is over when its parent says so or when time is up. Linked by hand: `AbortSignal.any` with `AbortSignal.timeout`
 * costs several times as much, and Node 20 may collect the latter as garbage before it fires.
 */
export class Deadline extends LazySignal {
  readonly #parent: StopSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #passed = false;

  constructor(milliseconds: number, parent?: StopSignal) {
    super();
    this.#parent = parent;
    this.#timer = setTimeout(() => {
      if (this.aborted) return;
      this.#passed = true;
      this.abort(new Error(`time is up after ${milliseconds} ms`));
    }, milliseconds);
    if (parent?.aborted) this.abort(parent.reason);
    else parent?.addEventListener("abort", this.#onParent);
  }

  /** Whether it was time, and not the parent, that ended it. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Settles like `promise`, but rejects as soon as it is over. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.aborted) reject(this.reason);
      this.addEventListener("abort", () => reject(this.reason));
      promise.then(resolve, reject);
    });
  }

  /** Forgets timer and parent; whoever made a deadline does this in the end. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#onParent);
  }

  readonly #onParent = (): void => this.abort(this.#parent?.reason);
}

/** Runs something with a time limit; it gets the signal to stop by. */
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
