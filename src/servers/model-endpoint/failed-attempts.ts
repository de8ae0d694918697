import type { Logger } from "../../base/door.ts";
import { steadyNow } from "../../base/transport/light-door.ts";
import type { CostMeter } from "./cost.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ProviderError } from "./provider-error.ts";
import type { Price } from "./settings.ts";

/** The error of a call whose budget is used up. */
export function gaveUp(error: ProviderError, attempts: number, since: number): ProviderError {
  if (attempts <= 1) return error;
  const seconds = ((steadyNow() - since) / 1000).toFixed(1);
  return error.restated(`${error.message} (gave up after ${attempts} attempts in ${seconds} s)`);
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

  failed({
    endpoint: { url, limit, breaker },
    path,
    error,
    attempt,
    since,
    mostAttempts,
  }: FailedAttempt): void {
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
    // While the endpoint is down, the breaker has said that calls wait; only another kind of failure is news.
    const pause = isSlowDown
      ? WARN_EVERY_MS
      : breaker.isOpen
        ? Number.POSITIVE_INFINITY
        : WARN_OF_OTHERS_EVERY_MS;
    if (now - warnedAt < pause) return;
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
