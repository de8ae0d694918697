import type { StopSignal } from "./stop-signal.ts";

/**
 * Something that can be called off. Who waits within this program hears of it here; an `AbortSignal`, which costs more to make than
 * many a call, is made when somebody asks for one.
 */
export class LazySignal implements StopSignal {
  #controller: AbortController | undefined;
  #over: { reason: unknown } | undefined;
  #listeners: (() => void)[] | undefined;

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  get reason(): unknown {
    return this.#over?.reason;
  }

  throwIfAborted(): void {
    if (this.#over) throw this.#over.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const place = this.#listeners?.indexOf(listener) ?? -1;
    if (place >= 0) this.#listeners?.splice(place, 1);
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
    for (const listener of listeners ?? []) listener();
  }
}
