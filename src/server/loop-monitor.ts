import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 20;
const CHECK_INTERVAL_MS = 1_000;
/** A handler that holds the loop longer than this delays every other rollout in the process. */
export const SLOW_HANDLER_MS = 50;
const SLOW_LOOP_MS = 200;

export interface LoopLag {
  /** Longest delay of the last second. */
  lagMs: number;
  /** The server whose handler held the loop longest in that second, when one did. */
  server: string | undefined;
  path: string | undefined;
  heldMs: number;
}

/** Watches the event loop of a process and names the server to blame when it lags. */
export class LoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  #watching = false;
  #worst: LoopLag = { lagMs: 0, server: undefined, path: undefined, heldMs: 0 };
  /** The largest lag seen since the start. */
  peakMs = 0;

  constructor(onLag: (lag: LoopLag) => void) {
    this.#timer = setInterval(() => {
      // Loading code at start-up holds the loop and hurts nobody: watching begins with the first whole second.
      if (!this.#watching) {
        this.#watching = this.#histogram.enable();
        this.#worst = { lagMs: 0, server: undefined, path: undefined, heldMs: 0 };
        return;
      }
      const lagMs = Math.max(0, this.#histogram.max / 1e6 - RESOLUTION_MS);
      this.#histogram.reset();
      this.peakMs = Math.max(this.peakMs, lagMs);
      const worst = this.#worst;
      this.#worst = { lagMs: 0, server: undefined, path: undefined, heldMs: 0 };
      if (lagMs >= SLOW_LOOP_MS || worst.heldMs >= SLOW_HANDLER_MS) onLag({ ...worst, lagMs });
    }, CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Notes how long a handler ran before it first waited. */
  ran(server: string, path: string, heldMs: number): void {
    if (heldMs > this.#worst.heldMs) this.#worst = { lagMs: 0, server, path, heldMs };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}
