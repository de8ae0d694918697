/**
 * Something that is over when its parent says so or when time is up. Linked by hand: `AbortSignal.any` with `AbortSignal.timeout`
 * costs several times as much, and Node 20 may collect the latter as garbage before it fires. Its own signal is made when somebody
 * asks for it.
 */
export class Deadline {
  readonly #parent: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #controller: AbortController | undefined;
  #over: { reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #passed = false;

  constructor(milliseconds: number, parent?: AbortSignal) {
    this.#parent = parent;
    this.#timer = setTimeout(() => {
      this.#passed = true;
      this.#end(new Error(`time is up after ${milliseconds} ms`));
    }, milliseconds);
    if (parent?.aborted) this.#end(parent.reason);
    else parent?.addEventListener("abort", this.#onParent, { once: true });
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#over.reason);
    }
    return this.#controller.signal;
  }

  /** Whether it was time, and not the parent, that ended it. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Settles like `promise`, but rejects as soon as it is over; for one promise at a time. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#over) reject(this.#over.reason);
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }

  /** Forgets timer and parent; whoever made a deadline does this in the end. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#onParent);
  }

  readonly #onParent = (): void => this.#end(this.#parent?.reason);

  #end(reason: unknown): void {
    if (this.#over) return;
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#reject?.(reason);
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
