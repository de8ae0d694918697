/** Who hears that a wait ends early: a function, or something that waits and is told itself, without a function made for it. */
export type StopListener = (() => void) | { handleEvent(): void };

/** What ends a wait early: an `AbortSignal`, or something of ours that tells it the same way and costs less to make. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: StopListener): void;
  removeEventListener(type: "abort", listener: StopListener): void;
  /** Of those that are none themselves. */
  readonly signal?: AbortSignal;
}

/** As an `AbortSignal`, for all who need a real one. */
export function abortSignalOf(stop: StopSignal): AbortSignal {
  return stop.signal ?? (stop as AbortSignal);
}
