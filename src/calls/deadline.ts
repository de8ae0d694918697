import { keptContext } from "./contexts.ts";
import { LazySignal } from "./lazy-signal.ts";
import type { StopSignal } from "./stop-signal.ts";
import { type LimitChain, type Limited, limitTime, unlimitTime } from "./time-limits.ts";

/**
 * Something that is over when its parent says so or when time is up. Linked by hand: `AbortSignal.any` with `AbortSignal.timeout`
 * costs several times as much, and Node 20 may collect the latter as garbage before it fires.
 */
export class Deadline extends LazySignal implements Limited {
  readonly #parent: StopSignal | undefined;
  readonly milliseconds: number;
  readonly #context = keptContext("Deadline");
  #passed = false;
  dueAt = 0;
  chain: LimitChain | undefined;
  before: Limited | undefined;
  after: Limited | undefined;

  constructor(milliseconds: number, parent?: StopSignal) {
    super();
    this.#parent = parent;
    this.milliseconds = milliseconds;
    if (parent?.aborted) {
      this.abort(parent.reason);
      return;
    }
    parent?.addEventListener("abort", this);
    limitTime(this, milliseconds);
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

  /** Forgets time and parent; whoever made a deadline does this in the end. */
  clear(): void {
    unlimitTime(this);
    this.#parent?.removeEventListener("abort", this);
  }

  /** The parent is over. */
  handleEvent(): void {
    this.abort(this.#parent?.reason);
  }

  timeIsUp(): void {
    if (this.aborted) return;
    this.#passed = true;
    const reason = new Error(`time is up after ${this.milliseconds} ms`);
    if (this.#context) this.#context.runInAsyncScope(this.abort, this, reason);
    else this.abort(reason);
  }
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
