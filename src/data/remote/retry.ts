import { nextDelay, type RetryBudget, sleep } from "../../base/transport/light-door.ts";
import { RemoteError } from "./errors.ts";

export type RetryPolicy = Omit<RetryBudget, "wallClockMs">;

const DEFAULT_RETRIES: RetryPolicy = { attempts: 5, baseDelayMs: 500, maxDelayMs: 30_000 };

/** With a longer Retry-After there is no retry. */
const MAX_RETRY_AFTER_MS = 120_000;

export interface RetryOptions {
  policy?: RetryPolicy;
  signal?: AbortSignal;
  /** Called before each wait. */
  onRetry?: (error: RemoteError, delayMs: number) => void;
}

/** Repeats `operation` after a retryable RemoteError, up to the number of attempts. */
export async function withRetries<T>(operation: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    options.signal?.throwIfAborted();
    try {
      return await operation();
    } catch (error) {
      await pauseAfter(error, attempt, options);
    }
  }
}

/** Waits before the next attempt. Throws the error after the last attempt. */
export async function pauseAfter(error: unknown, attempt: number, options: RetryOptions): Promise<void> {
  if (!(error instanceof RemoteError) || !error.retryable) throw error;
  const { retryAfterMs } = error;
  const budget = { ...(options.policy ?? DEFAULT_RETRIES), wallClockMs: null };
  const delay = nextDelay(budget, { attempt, elapsedMs: 0, retryAfterMs });
  if (delay === undefined || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) throw error;
  options.onRetry?.(error, delay);
  await sleep(delay, options.signal);
}
