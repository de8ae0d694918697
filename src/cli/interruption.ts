/** The signals that ask a command to wind up, with the exit code of a process each has ended. */
export const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;

/** The reason of a signal's abort. */
export class SignalReceived extends Error {
  readonly signal: EndingSignal;

  constructor(signal: EndingSignal) {
    super(`received ${signal}`);
    this.signal = signal;
  }

  /** Only a person at a terminal can be asked to send another one. */
  get isFromTerminal(): boolean {
    return this.signal === "SIGINT";
  }
}

/** The exit code of a command that was stopped: that of the signal, and that of Ctrl-C for any other abort. */
export function interruptedExitCode(signal: AbortSignal | undefined): number {
  const reason: unknown = signal?.reason;
  return SIGNAL_EXIT_CODES[reason instanceof SignalReceived ? reason.signal : "SIGINT"];
}

/** Time for rollouts under way after a single signal; schedulers kill after half a minute. */
export const DRAIN_GRACE_MS = 10_000;
/** Time for what remains to be closed behind that. */
export const CLOSE_GRACE_MS = 5_000;
