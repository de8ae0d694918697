import { setTimeout as sleep } from "node:timers/promises";
import { RemoteError } from "./remote-error.ts";

export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number;
  firstDelayMs: number;
  maxDelayMs: number;
}

export const DEFAULT_RETRIES: RetryPolicy = { attempts: 5, firstDelayMs: 500, maxDelayMs: 30_000 };

/** A longer Retry-After than this is not waited for. */
const MAX_RETRY_AFTER_MS = 120_000;

export interface RetryOptions {
  policy?: RetryPolicy;
  signal?: AbortSignal;
  /** Called before each wait. */
  onRetry?: (error: RemoteError, delayMs: number) => void;
}

/** Runs `operation` again while it fails with a retryable RemoteError and attempts are left. */
export async function withRetries<T>(operation: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const policy = options.policy ?? DEFAULT_RETRIES;
  for (let attempt = 1; ; attempt++) {
    options.signal?.throwIfAborted();
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof RemoteError) || !error.retryable || attempt >= policy.attempts) throw error;
      if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) throw error;
      const delay = error.retryAfterMs ?? backoff(policy, attempt);
      options.onRetry?.(error, delay);
      await sleep(delay, undefined, { signal: options.signal });
    }
  }
}

/** Doubles from the first delay, with a random half so that many clients do not come back at once. */
export function backoff(policy: RetryPolicy, attempt: number): number {
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return full / 2 + (Math.random() * full) / 2;
}
