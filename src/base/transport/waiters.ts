import { LONGEST_TIMER_MS } from "./deadline.ts";

/** A queue of callers. Each waits until it is woken, its signal fires or its time is over. */
export class Waiters {
  readonly #waiting = new Set<(news: boolean) => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the value passed by the waker, or with false when the time is over. Rejects with the signal's reason.
   */
  wait(signal: AbortSignal | undefined, milliseconds = Number.POSITIVE_INFINITY): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", giveUp);
        clearTimeout(timer);
      };
      const wake = (news: boolean) => {
        end();
        resolve(news);
      };
      const giveUp = () => {
        end();
        reject(signal?.reason);
      };
      const timer = Number.isFinite(milliseconds)
        ? setTimeout(wake, Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MS), false)
        : undefined;
      this.#waiting.add(wake);
      signal?.addEventListener("abort", giveUp);
    });
  }

  /** Wakes the caller that has waited longest. Returns false when there is no waiter. */
  wakeFirst(): boolean {
    for (const wake of this.#waiting) {
      wake(true);
      return true;
    }
    return false;
  }

  wakeAll(news = true): void {
    for (const wake of [...this.#waiting]) wake(news);
  }
}
