/** Deadlines, retries and semaphores, without the HTTP client. */

export {
  abortController,
  Deadline,
  LONGEST_TIMER_MS,
  settledWithin,
  sleep,
  steadyNow,
  untilAborted,
  withDeadline,
} from "./deadline.ts";
export { nextDelay, type RetryBudget, retryAfterMs, SERVER_RETRY } from "./retry.ts";
export { Semaphore } from "./semaphore.ts";
export { Waiters } from "./waiters.ts";
