import { isFailureOf } from "../../base/failures.ts";
import { steadyNow } from "../../base/transport/light-door.ts";
import type { Slot, SlotResult } from "./adaptive-limit.ts";
import { type CircuitBreaker, ORDINARY_PASS, type Pass } from "./circuit-breaker.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderError } from "./provider-error.ts";

/** The budget allows no further attempt. `last` is the last failure. */
export class Exhausted extends Error {
  readonly last: ProviderError;

  constructor(last: ProviderError) {
    super(last.message);
    this.last = last;
  }
}

/** A call that may start. Its result changes the breaker and the limit of its endpoint. */
export interface Admission {
  /** When the wait for the breaker and the limit ended. */
  startedAt: number;
  /** Whether the call probes an endpoint that was down. */
  isProbe: boolean;
  succeeded(outputTokens: number | null): void;
  failed(error: unknown): void;
}

interface AdmissionOptions {
  /** Whether the adaptive limit of the endpoint applies. */
  isLimited: boolean;
  signal: AbortSignal;
  giveUpAt: number;
  longestOutageMs: number;
  /** The last failure of the call. A call without a failure waits for a slot without a time limit. */
  last: ProviderError | undefined;
}

/** Waits until a call may start: until its endpoint is up, and until the limit of the endpoint has a free slot. */
export async function admit(
  { breaker, limit: ownLimit }: Pick<Endpoint, "breaker" | "limit">,
  { isLimited, signal, giveUpAt, longestOutageMs, last }: AdmissionOptions,
): Promise<Admission> {
  const limit = isLimited ? ownLimit : undefined;
  const down = () => outage(breaker.lastFailure, breaker.downMs);
  for (;;) {
    const pass = breaker.isOpen ? await breaker.pass({ signal, giveUpAt, longestOutageMs }) : ORDINARY_PASS;
    if (!pass) throw new Exhausted(down());
    let slot: Slot | undefined;
    try {
      slot =
        limit?.tryEnter() ??
        (await limit?.enter(signal, last ? giveUpAt : Number.POSITIVE_INFINITY, longestOutageMs));
      if (limit && !slot) throw new Exhausted(last ?? limit.lastRejection ?? down());
    } catch (error) {
      breaker.ended(pass);
      throw error;
    }
    const leave = (result: SlotResult) => slot && limit?.leave(slot, result);
    if (!breaker.isOpen || pass.probe)
      return {
        startedAt: slot?.startedAt ?? steadyNow(),
        isProbe: pass.probe,
        succeeded(outputTokens) {
          breaker.succeeded();
          leave({ kind: "success", outputTokens });
        },
        failed(error) {
          leave(slotResult(error));
          recordFailure(breaker, pass, error);
        },
      };
    // The endpoint went down while the call waited for a slot.
    leave({ kind: "other" });
  }
}

/** The error of a call that waited for an endpoint that stayed down. */
function outage(last: ProviderError | undefined, downMs: number): ProviderError {
  const cause = last ?? new ProviderError({ class: "connection", retryable: true, message: "no answer" });
  return cause.restated(`${cause.message} (down for ${(downMs / 1000).toFixed(0)} s)`);
}

/** The result of a failed attempt for the adaptive limit. */
function slotResult(error: unknown): SlotResult {
  if (!(error instanceof ProviderError)) return { kind: "other" };
  const { providerStatus: status, retryAfterMs } = error;
  const overloaded =
    isFailureOf(error.failure, "provider_rate_limit") ||
    status === 503 ||
    status === 529 ||
    isOutOfFiles(error);
  return overloaded ? { kind: "rate-limited", pauseMs: retryAfterMs, failure: error } : { kind: "other" };
}

/**
 * Whether this process has too many open files for another connection. Fewer concurrent calls help; the endpoint is up.
 */
function isOutOfFiles({ cause }: ProviderError): boolean {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return code === "EMFILE" || code === "ENFILE";
}

/** Reports a failed attempt to the circuit breaker of its endpoint. */
function recordFailure(breaker: CircuitBreaker, pass: Pass, error: unknown): void {
  const isInconclusive =
    !(error instanceof ProviderError) ||
    error.lasting ||
    isFailureOf(error.failure, "invalid_response") ||
    isOutOfFiles(error);
  // A permanent failure, such as an unknown host, must not make other calls wait for a recovery.
  if (isInconclusive) breaker.ended(pass);
  else if (error.providerStatus === undefined || error.providerStatus >= 500) breaker.failed(pass, error);
  // Any other response shows that the endpoint is up.
  else breaker.succeeded();
}
