import { type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";

const RESOLUTION_MS = 20;
const CHECK_INTERVAL_MS = 1_000;
/** A handler that blocks the loop longer than this delays every other rollout in the process. */
const SLOW_HANDLER_MS = 50;
const SLOW_LOOP_MS = 200;
/** Reading the CPU time for every handler would cost a tenth of a rollout. An older reading adds at most this much. */
const CPU_READING_MS = 10;

export interface LoopLag {
  /** Longest delay of the last second. */
  lagMs: number;
  /** The server whose handler computed longest in that second, if noticeable. */
  server: string | undefined;
  path: string | undefined;
  /** CPU time of the handler: on a busy machine, the wall clock would blame whoever was running. */
  heldMs: number;
}

/** CPU time of this thread in milliseconds, or of the process before Node 22.19. */
function cpuTimeMs(): number {
  const { threadCpuUsage = process.cpuUsage } = process as Partial<
    Record<"threadCpuUsage", typeof process.cpuUsage>
  >;
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

interface Running {
  server: string;
  path: string;
  since: number;
  cpu: number;
  onRest: (() => void) | undefined;
}

const NOBODY: LoopLag = { lagMs: 0, server: undefined, path: undefined, heldMs: 0 };

/**
 * Measures the lag of the event loop and names the server that caused it, once per server. The first slow call of a
 * route does not count, because it may include loading and compiling.
 */
export class LoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  readonly #onLag: (lag: LoopLag) => void;
  readonly #cpu: () => number;
  readonly #slowRoutes = new Set<string>();
  /** Servers that were named; undefined stands for lag that no handler caused. */
  readonly #reported = new Set<string | undefined>();
  #cpuAtCheck = 0;
  #reading = { at: Number.NEGATIVE_INFINITY, cpu: 0 };
  #begun = false;
  #watching = false;
  #worst = NOBODY;
  #running: Running | undefined;
  #rests = true;

  constructor(onLag: (lag: LoopLag) => void, cpu: () => number = cpuTimeMs) {
    this.#onLag = onLag;
    this.#cpu = cpu;
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
    if (now - this.#reading.at >= CPU_READING_MS) this.#reading = { at: now, cpu: this.#cpu() };
    this.#running = { server, path, since: now, cpu: this.#reading.cpu, onRest };
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
    const { server, path, since, cpu } = this.#running;
    this.#running = undefined;
    if (now - since < Math.max(SLOW_HANDLER_MS, this.#worst.heldMs)) return;
    const heldMs = Math.min(now - since, this.#cpu() - cpu);
    if (heldMs < Math.max(SLOW_HANDLER_MS, this.#worst.heldMs)) return;
    const route = `${server} ${path}`;
    if (this.#slowRoutes.has(route)) this.#worst = { lagMs: 0, server, path, heldMs };
    else this.#slowRoutes.add(route);
  }

  #check(): void {
    const worst = this.#worst;
    const cpu = this.#cpu();
    const usedMs = cpu - this.#cpuAtCheck;
    this.#cpuAtCheck = cpu;
    this.#worst = NOBODY;
    if (!this.#begun) return;
    // Ignores the partial second after the start.
    if (!this.#watching) {
      this.#watching = this.#histogram.enable();
      return;
    }
    const measured = Math.max(0, this.#histogram.max / 1e6 - RESOLUTION_MS);
    this.#histogram.reset();
    // A process that computed less than its longest delay waited for a core.
    const isOwn = measured >= SLOW_LOOP_MS && usedMs >= measured;
    if ((worst.server === undefined && !isOwn) || this.#reported.has(worst.server)) return;
    this.#reported.add(worst.server);
    this.#onLag({ ...worst, lagMs: Math.max(measured, worst.heldMs) });
  }
}
