/**
 * A signal that fires when its parent does or when time is up. Linked by hand: `AbortSignal.any` with `AbortSignal.timeout` costs
 * several times as much, and Node 20 may collect the latter as garbage before it fires.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #passed = false;

  constructor(milliseconds: number, parent?: AbortSignal) {
    this.#parent = parent;
    this.#timer = setTimeout(() => {
      this.#passed = true;
      this.#controller.abort(new Error(`time is up after ${milliseconds} ms`));
    }, milliseconds);
    if (parent?.aborted) this.#controller.abort(parent.reason);
    else parent?.addEventListener("abort", this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was time, and not the parent, that ended it. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Forgets timer and parent; whoever made a deadline does this in the end. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#onParent);
  }

  readonly #onParent = (): void => this.#controller.abort(this.#parent?.reason);
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
