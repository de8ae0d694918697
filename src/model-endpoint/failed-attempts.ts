import { steadyNow } from "../calls/deadline.ts";
import type { Logger } from "../logger.ts";
import type { Pass } from "./circuit-breaker.ts";
import type { CostMeter } from "./cost.ts";
import type { Endpoint } from "./endpoint.ts";
import { ProviderError } from "./provider-error.ts";
import type { Price } from "./settings.ts";

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

/**
 * Whether this process has too many open files for another connection. Fewer concurrent calls help; the endpoint is up.
 */
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
  return error.restated(`${error.message} (gave up after ${attempts} attempts in ${seconds} s)`);
}

/** The error of a call that waited for an endpoint that stayed down. */
export function outage(last: ProviderError | undefined, downMs: number): ProviderError {
  const cause = last ?? new ProviderError({ class: "connection", retryable: true, message: "no answer" });
  return cause.restated(`${cause.message} (down for ${(downMs / 1000).toFixed(0)} s)`);
}

/** Minimum time between two warnings about a lowered limit, and the longer one for each kind of failure. */
const WARN_EVERY_MS = 10_000;
const WARN_OF_OTHERS_EVERY_MS = 30_000;

export interface FailedAttempt {
  endpoint: Endpoint;
  path: string;
  error: ProviderError;
  attempt: number;
  /** When the first attempt failed. */
  since: number;
  /** Total attempts; null: no limit. */
  mostAttempts: number | null;
}

/** Logs failures of calls, at a rate that a person can read. */
export class CallReports {
  readonly #log: Logger;
  readonly #retryAttempts: number | null;
  readonly #warnedAt = new Map<string, number>();
  #warnedOfUncounted = false;

  constructor(log: Logger, retryAttempts: number | null) {
    this.#log = log;
    this.#retryAttempts = retryAttempts;
  }

  failed({ endpoint: { url, limit }, path, error, attempt, since, mostAttempts }: FailedAttempt): void {
    const kind = error.failure.class;
    const status = error.providerStatus ?? "none";
    const tries = this.#retryAttempts ?? "unlimited";
    this.#log.debug(
      `[model_retry url=${url.text}${path} status=${status} kind=${kind} try=${attempt} max_tries=${tries} error_msg=${error.message}]`,
    );
    const now = steadyNow();
    const isSlowDown = kind === "provider_rate_limit" && limit.isLowered;
    const subject = isSlowDown ? "slow-down" : kind;
    const warnedAt = this.#warnedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    if (now - warnedAt < (isSlowDown ? WARN_EVERY_MS : WARN_OF_OTHERS_EVERY_MS)) return;
    this.#warnedAt.set(subject, now);
    if (isSlowDown) {
      this.#log.warn(`${error.message}; at most ${limit.limit} concurrent calls from now on`);
      return;
    }
    // The number of probes of an endpoint that is down is not limited.
    const most = mostAttempts === null || attempt > mostAttempts ? "" : ` of ${mostAttempts}`;
    const seconds = Math.round((now - since) / 1000);
    this.#log.warn(`${error.message}; trying again (attempt ${attempt}${most} failed, after ${seconds} s)`);
  }

  /** Warns that a response has neither a cost nor a usage, so that `max_cost` cannot be enforced. */
  uncounted(hosts: readonly string[], meters: readonly CostMeter[], price: Price | undefined): void {
    if (this.#warnedOfUncounted || meters.every(({ limit }) => limit === null)) return;
    this.#warnedOfUncounted = true;
    const names = hosts.join(", ");
    this.#log.warn(
      price === undefined
        ? `max_cost is set, but ${names} did not report the cost of a call; set prices, or such calls do not count`
        : `max_cost is set, but ${names} did not report the tokens of a call (usage); such calls do not count`,
    );
  }
}
