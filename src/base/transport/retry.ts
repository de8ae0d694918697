/** Limits on the number and duration of retries. */
export interface RetryBudget {
  /** Total attempts; null: no limit. */
  attempts: number | null;
  /** Milliseconds from the first attempt after which no new one starts; null: no limit. */
  wallClockMs: number | null;
  /**
   * The first delay; later ones double up to `maxDelayMs`. Every delay is multiplied by a random factor between 0
   * and 1 (full jitter).
   */
  baseDelayMs: number;
  maxDelayMs: number;
}

export const SERVER_RETRY: RetryBudget = {
  attempts: 6,
  wallClockMs: 60_000,
  baseDelayMs: 100,
  maxDelayMs: 5_000,
};

/** The delay before the next attempt; undefined when the budget is used up. */
export function nextDelay(
  budget: RetryBudget,
  progress: {
    attempt: number;
    /** Since the first attempt, by a monotonic clock. */
    elapsedMs: number;
    retryAfterMs?: number;
  },
  random: () => number = Math.random,
): number | undefined {
  if (budget.attempts !== null && progress.attempt >= budget.attempts) return undefined;
  const ceiling = Math.min(budget.maxDelayMs, budget.baseDelayMs * 2 ** Math.min(progress.attempt - 1, 30));
  // Respects a server's `Retry-After`; the added jitter prevents callers from returning at the same time.
  const delay = (progress.retryAfterMs ?? 0) + random() * ceiling;
  if (budget.wallClockMs !== null && progress.elapsedMs + delay > budget.wallClockMs) return undefined;
  return delay;
}

/** Reads a `Retry-After` header: seconds or an HTTP date. */
export function retryAfterMs(
  header: string | string[] | undefined,
  now: number = Date.now(),
): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
