import { type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";

const RESOLUTION_MS = 20;
const CHECK_INTERVAL_MS = 1_000;
/** A handler that blocks the loop longer than this delays every other rollout in the process. */
const SLOW_HANDLER_MS = 50;
const SLOW_LOOP_MS = 200;

export interface LoopLag {
  /** Longest delay of the last second. */
  lagMs: number;
  /** The server whose handler blocked the loop longest in that second, if noticeable. */
  server: string | undefined;
  path: string | undefined;
  heldMs: number;
}

interface Running {
  server: string;
  path: string;
  since: number;
  onRest: (() => void) | undefined;
}

const NOBODY: LoopLag = { lagMs: 0, server: undefined, path: undefined, heldMs: 0 };

/** Measures the lag of the event loop and names the server that caused it. */
export class LoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  readonly #onLag: (lag: LoopLag) => void;
  #begun = false;
  #watching = false;
  #worst = NOBODY;
  #running: Running | undefined;
  #rests = true;

  constructor(onLag: (lag: LoopLag) => void) {
    this.#onLag = onLag;
    // After all due timers: the timer of the histogram may fire after this one.
    this.#timer = setInterval(() => setImmediate(() => this.#check()), CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Servers have started: loading their code blocked the loop, which is harmless. */
  begin(): void {
    this.#begun = true;
  }

  /**
   * A handler begins. Code that runs before the event loop continues is attributed to it: before its first await, and after
   * awaits of settled promises, unless another handler begins. `onRest` is called when the event loop continues.
   */
  began(server: string, path: string, onRest?: () => void): void {
    const now = performance.now();
    this.#finish(now);
    this.#running = { server, path, since: now, onRest };
    if (!this.#rests) return;
    this.#rests = false;
    // A tick scheduled from a microtask runs after the last microtask.
    queueMicrotask(() => process.nextTick(() => this.#rest()));
  }

  /** The server whose handler runs, until the event loop continues. */
  get running(): string | undefined {
    return this.#running?.server;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #rest(): void {
    this.#rests = true;
    const { onRest } = this.#running ?? {};
    this.#finish(performance.now());
    onRest?.();
  }

  #finish(now: number): void {
    if (!this.#running) return;
    const { server, path, since } = this.#running;
    this.#running = undefined;
    if (now - since > this.#worst.heldMs) this.#worst = { lagMs: 0, server, path, heldMs: now - since };
  }

  #check(): void {
    const worst = this.#worst;
    this.#worst = NOBODY;
    if (!this.#begun) return;
    // Ignores the partial second after the start.
    if (!this.#watching) {
      this.#watching = this.#histogram.enable();
      return;
    }
    const measured = Math.max(0, this.#histogram.max / 1e6 - RESOLUTION_MS);
    this.#histogram.reset();
    const lagMs = Math.max(measured, worst.heldMs);
    if (lagMs < SLOW_LOOP_MS && worst.heldMs < SLOW_HANDLER_MS) return;
    this.#onLag({ ...(worst.heldMs < SLOW_HANDLER_MS ? NOBODY : worst), lagMs });
  }
}
