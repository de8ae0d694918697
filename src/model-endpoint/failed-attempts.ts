import { steadyNow } from "../calls/steady-clock.ts";
import type { Pass } from "./circuit-breaker.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderError, type ProviderFailureClass } from "./provider-error.ts";

/** The result of a failed attempt for the adaptive limit. */
export function slotResult(error: unknown) {
  if (!(error instanceof ProviderError)) return { kind: "other" } as const;
  const { providerStatus: status, retryAfterMs } = error;
  const overloaded =
    error.failure.class === "provider_rate_limit" || status === 503 || status === 529 || isOutOfFiles(error);
  return overloaded
    ? ({ kind: "rate-limited", pauseMs: retryAfterMs, failure: error } as const)
    : ({ kind: "other" } as const);
}

/** Whether this process has too many open files for another connection. Fewer calls at once help; the endpoint is up. */
export function isOutOfFiles({ cause }: ProviderError): boolean {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return code === "EMFILE" || code === "ENFILE";
}

/** Reports a failed attempt to the circuit breaker of its endpoint. */
export function recordFailure({ breaker }: Endpoint, pass: Pass, error: unknown): void {
  const saysNothing =
    !(error instanceof ProviderError) ||
    error.lasting ||
    error.failure.class === "invalid_response" ||
    isOutOfFiles(error);
  // A permanent failure, such as an unknown host, must not make other calls wait for a recovery.
  if (saysNothing) breaker.ended(pass);
  else if (error.providerStatus === undefined || error.providerStatus >= 500) breaker.failed(pass, error);
  // Any other response shows that the endpoint is up.
  else breaker.succeeded();
}

/** The error of a call whose budget is used up. */
export function gaveUp(error: ProviderError, attempts: number, since: number): ProviderError {
  if (attempts <= 1) return error;
  const seconds = ((steadyNow() - since) / 1000).toFixed(1);
  return restated(error, `${error.message} (gave up after ${attempts} attempts in ${seconds} s)`);
}

/** The error of a call that waited for an endpoint that stayed down. */
export function outage(last: ProviderError | undefined, downMs: number): ProviderError {
  const cause = last ?? new ProviderError({ class: "connection", retryable: true, message: "no answer" });
  return restated(cause, `${cause.message} (down for ${(downMs / 1000).toFixed(0)} s)`);
}

/** The same failure with another message. */
export function restated(error: ProviderError, message: string, lasting = error.lasting): ProviderError {
  const { failure, providerStatus, body, retryAfterMs } = error;
  const { class: name, retryable } = failure;
  const kind = name as ProviderFailureClass;
  return new ProviderError({
    class: kind,
    providerStatus,
    body,
    retryable,
    retryAfterMs,
    lasting,
    message,
    cause: error,
  });
}
