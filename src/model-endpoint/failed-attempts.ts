import { steadyNow } from "../calls/steady-clock.ts";
import type { Pass } from "./circuit-breaker.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderError, type ProviderFailureClass } from "./provider-error.ts";

/** What a failed attempt tells the limit of calls at once. */
export function slotResult(error: unknown) {
  if (!(error instanceof ProviderError)) return { kind: "other" } as const;
  const { providerStatus: status, retryAfterMs } = error;
  const overloaded =
    error.failure.class === "provider_rate_limit" || status === 503 || status === 529 || isOutOfFiles(error);
  return overloaded
    ? ({ kind: "rate-limited", pauseMs: retryAfterMs, failure: error } as const)
    : ({ kind: "other" } as const);
}

/** This process has too many open files for another connection: fewer calls at once help, and the endpoint is well. */
export function isOutOfFiles({ cause }: ProviderError): boolean {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return code === "EMFILE" || code === "ENFILE";
}

/** What it tells the breaker of its endpoint. */
export function tellBreaker({ breaker }: Endpoint, pass: Pass, error: unknown): void {
  const saysNothing =
    !(error instanceof ProviderError) ||
    error.lasting ||
    error.failure.class === "invalid_response" ||
    isOutOfFiles(error);
  // Who waited for a host that does not exist would wait as long as for one that is down.
  if (saysNothing) breaker.ended(pass);
  else if (error.providerStatus === undefined || error.providerStatus >= 500) breaker.failed(pass, error);
  // Whatever else it answered, it is there.
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

/** The same failure in other words. */
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
