import { ProviderError, type ProviderFailureClass } from "../provider-error.ts";

/** What is told about a failure: enough to say it again. Bodies can be long, and only who got them reads them. */
export interface SharedFailure {
  class: ProviderFailureClass;
  status?: number;
  retryable: boolean;
  message: string;
}

/** What a process has done at one limit since its last report. */
export interface LimitReport {
  type: "limit";
  key: string;
  /** The last allowance it has heard of. */
  seen: number;
  started: number;
  /** Calls under way and calls that wait. */
  running: number;
  waiting: number;
  /** An answer is wanted, even when nothing changes. */
  ask: boolean;
  succeeded: [startedAt: number, outputTokens: number | null][];
  refused: { startedAt: number; pauseMs?: number; failure?: SharedFailure }[];
  /** Calls that ended without telling anything. */
  others: number;
}

/** From a process of the run to the one that coordinates it. */
export type MemberMessage =
  | { type: "join-limit"; key: string }
  | LimitReport
  | { type: "join-breaker"; key: string }
  | { type: "breaker-failed"; key: string; probe: boolean; failure: SharedFailure }
  | { type: "breaker-succeeded"; key: string }
  | { type: "breaker-ended"; key: string }
  /** Somebody waits for the endpoint to come back, and would try it. */
  | { type: "breaker-wait"; key: string }
  | { type: "join-meter"; key: string }
  | { type: "spent"; key: string; amount: number };

export interface Allowance {
  type: "allowance";
  key: string;
  serial: number;
  /** Calls that may run at once without asking. */
  places: number;
  limit: number;
  pausedUntil: number;
  /** Others wait: changes are reported at once. */
  prompt: boolean;
  refusal?: SharedFailure;
}

export interface BreakerState {
  type: "breaker";
  key: string;
  isOpen: boolean;
  probeAt: number;
  downSince: number | null;
  failure?: SharedFailure;
  /** This process has opened or closed it, and says so. */
  news?: "opened" | "closed";
}

/** From the coordinator to a process. */
export type CoordinatorMessage =
  | Allowance
  | BreakerState
  /** This process may try whether the endpoint is back. */
  | { type: "probe"; key: string }
  /** What all have spent, and how much of it this process has reported. */
  | { type: "total"; key: string; spent: number; reported: number };

export function toSharedFailure(error: ProviderError): SharedFailure {
  const { failure, providerStatus, message } = error;
  return {
    class: failure.class as ProviderFailureClass,
    ...(providerStatus !== undefined && { status: providerStatus }),
    retryable: failure.retryable,
    message,
  };
}

export function fromSharedFailure({ status, ...failure }: SharedFailure): ProviderError {
  return new ProviderError({ ...failure, providerStatus: status });
}
