/** The signals that stop a command, with the exit code of each. */
export const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;

/** The abort reason of a signal. */
export class SignalReceived extends Error {
  readonly signal: EndingSignal;

  constructor(signal: EndingSignal) {
    super(`received ${signal}`);
    this.signal = signal;
  }

  /** Whether a user at a terminal sent the signal and can send another. */
  get isFromTerminal(): boolean {
    return this.signal === "SIGINT";
  }
}

/** The exit code of a stopped command: that of the signal, or that of Ctrl-C for any other abort. */
export function interruptedExitCode(signal: AbortSignal | undefined): number {
  const reason: unknown = signal?.reason;
  return SIGNAL_EXIT_CODES[reason instanceof SignalReceived ? reason.signal : "SIGINT"];
}

/** Time for running rollouts after a single signal; schedulers kill after half a minute. */
export const DRAIN_GRACE_MS = 10_000;
/** Time to close everything after that. */
export const CLOSE_GRACE_MS = 5_000;
