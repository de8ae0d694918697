import type { StopListener, StopSignal } from "./stop-signal.ts";

/**
 * Something that can be called off. Who waits within this program hears of it here; an `AbortSignal`, which costs more to make than
 * many a call, is made when somebody asks for one.
 */
export class LazySignal implements StopSignal {
  #controller: AbortController | undefined;
  #over: { reason: unknown } | undefined;
  /** Most have one: a list is made for more. */
  #listeners: StopListener | StopListener[] | undefined;

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  get reason(): unknown {
    return this.#over?.reason;
  }

  throwIfAborted(): void {
    if (this.#over) throw this.#over.reason;
  }

  addEventListener(_: "abort", listener: StopListener): void {
    const before = this.#listeners;
    if (before === undefined) this.#listeners = listener;
    else if (Array.isArray(before)) before.push(listener);
    else this.#listeners = [before, listener];
  }

  removeEventListener(_: "abort", listener: StopListener): void {
    const before = this.#listeners;
    if (before === listener) this.#listeners = undefined;
    else if (Array.isArray(before)) {
      const place = before.indexOf(listener);
      if (place >= 0) before.splice(place, 1);
    }
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#over.reason);
    }
    return this.#controller.signal;
  }

  /** Once; what comes later changes nothing. */
  abort(reason: unknown): void {
    if (this.#over) return;
    this.#over = { reason };
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    if (Array.isArray(listeners)) for (const listener of listeners) tell(listener);
    else if (listeners !== undefined) tell(listeners);
  }
}

function tell(listener: StopListener): void {
  if (typeof listener === "function") listener();
  else listener.handleEvent();
}
