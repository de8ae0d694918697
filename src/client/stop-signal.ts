/** What ends a wait early: an `AbortSignal`, or something of ours that tells it the same way and costs less to make. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
  /** Of those that are none themselves. */
  readonly signal?: AbortSignal;
}

/** As an `AbortSignal`, for all who need a real one. */
export function abortSignalOf(stop: StopSignal): AbortSignal {
  return stop.signal ?? (stop as AbortSignal);
}
