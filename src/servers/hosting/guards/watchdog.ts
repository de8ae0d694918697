import { url as debuggerUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { secondsOf } from "../host-settings.ts";
import { entryPoint } from "../locate-server.ts";
import type { HostedCode } from "./hosted-code.ts";

const BEAT_MS = 500;
const DEFAULT_WARN_SECONDS = 5;
const DEFAULT_LIMIT_SECONDS = 300;

/** Memory that the main thread and the watching thread share. */
export const WATCHDOG_SLOTS = { beat: 0, held: 1, entered: 2, count: 3 } as const;

export interface WatchdogTask extends WatchdogLimits, WatchedProcess {
  slots: SharedArrayBuffer;
  code: readonly HostedCode[];
}

/** The process that the loop belongs to. */
export interface WatchedProcess {
  /** Whether it hosts a single server. */
  hasOneServer: boolean;
  /** The process must not outlive the process with this id. */
  parent?: number;
  /** Descendants that existed before the servers; if set, all other descendants end with this process. */
  startedBefore?: readonly number[];
}

export interface WatchdogLimits {
  warnSeconds: number;
  /** Null: never ends the process. */
  limitSeconds: number | null;
}

/** How long a server may hold the event loop: `blocked_loop_warn_seconds` and `blocked_loop_limit_seconds`. */
export function watchdogLimits(config: Readonly<Record<string, unknown>>): WatchdogLimits {
  return {
    warnSeconds:
      secondsOf(config, "blocked_loop_warn_seconds", DEFAULT_WARN_SECONDS) ?? Number.POSITIVE_INFINITY,
    limitSeconds: secondsOf(config, "blocked_loop_limit_seconds", DEFAULT_LIMIT_SECONDS),
  };
}

/**
 * Detects from another thread that the event loop is blocked. Names the server whose code runs, and ends the
 * process at the limit.
 */
export class Watchdog {
  readonly #slots = new Int32Array(
    new SharedArrayBuffer(WATCHDOG_SLOTS.count * Int32Array.BYTES_PER_ELEMENT),
  );
  readonly #beat: NodeJS.Timeout;
  readonly #code: readonly HostedCode[];
  readonly #worker: Worker | undefined;

  /** Starts immediately, because code may block the loop while it is loaded. */
  constructor(
    code: readonly HostedCode[],
    limits: WatchdogLimits,
    watched: WatchedProcess & { installRoot: string },
  ) {
    const { installRoot, ...about } = watched;
    this.#code = code;
    this.#beat = setInterval(() => Atomics.add(this.#slots, WATCHDOG_SLOTS.beat, 1), BEAT_MS).unref();
    // A debugger may stop the process for any length of time.
    if (debuggerUrl() !== undefined) return;
    const slots = this.#slots.buffer as SharedArrayBuffer;
    this.#worker = startWorker({ slots, code, ...limits, ...about }, installRoot);
  }

  /** A number for the server, for `enter`. */
  numberOf(server: string): number {
    return this.#code.findIndex((hosted) => hosted.server === server) + 1;
  }

  /** The handler of a server begins to run… */
  enter(server: number): void {
    this.#slots[WATCHDOG_SLOTS.held] = server;
    this.#slots[WATCHDOG_SLOTS.entered] = server;
  }

  /** …and waits for the first time, or is done. */
  leave(): void {
    this.#slots[WATCHDOG_SLOTS.held] = 0;
  }

  async stop(): Promise<void> {
    clearInterval(this.#beat);
    await this.#worker?.terminate();
  }
}

function startWorker(workerData: WatchdogTask, installRoot: string): Worker {
  const { file, execArgv } = entryPoint("watchdog-worker", import.meta.url, installRoot);
  // The compiled thread needs little memory.
  const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 };
  const worker = new Worker(file, {
    name: "watchdog",
    workerData,
    execArgv,
    ...(file.endsWith(".js") && { resourceLimits }),
  });
  worker.unref();
  // A run without a watchdog is better than no run.
  worker.on("error", () => {});
  return worker;
}
