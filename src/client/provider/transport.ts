import type { Dispatcher } from "undici";
import { GymError } from "../../errors.ts";
import { ConnectionPool } from "../connection-pool.ts";
import { MOST_CONCURRENT } from "./adaptive-limit.ts";
import { processWide } from "./process-wide.ts";

/** An idle connection is closed after this time; endpoints behind balancers drop it themselves after a minute or so. */
const KEEP_ALIVE_MS = 20_000;
/** Timers cannot be longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The connections of one address; made once per endpoint, shared by all who call it. */
export type Connections = ConnectionPool;

export interface Attempt {
  connections: Connections;
  path: string;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal: AbortSignal;
  /** From the start to the last byte received; null: as long as the signal allows. */
  timeoutMs: number | null;
  maxResponseBytes: number;
}

export interface AttemptReply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** An attempt took longer than it may. */
export class AttemptTimeout extends GymError {
  constructor(milliseconds: number) {
    super("PROVIDER_TIMEOUT", `no answer within ${milliseconds / 1000} s`);
  }
}

/** An answer has more bytes than are read. */
export class AnswerTooLarge extends GymError {
  constructor() {
    super("PROVIDER_INVALID_RESPONSE", "the answer is larger than allowed");
  }
}

/** Sends one request over a pooled connection; redirects are not followed, so that keys stay with their host. */
export function sendAttempt(attempt: Attempt): Promise<AttemptReply> {
  return new Promise((resolve, reject) => {
    const { connections, path, method, headers, body = null } = attempt;
    attempt.signal.throwIfAborted();
    connections.dispatch(
      { path, method, headers, body },
      (release) => new Exchange(attempt, resolve, reject, release),
    );
  });
}

/**
 * One request under way. The pool's own `request` makes a stream and an abort listener for every call, which costs as much CPU as
 * the exchange itself; answers are read whole here, so neither is needed.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #isOver = false;
  readonly #signal: AbortSignal;
  readonly #maxBytes: number;
  readonly #resolve: (reply: AttemptReply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #release: () => void;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onAbort = () => this.#fail(this.#signal.reason);
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: AttemptReply["headers"] = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    { signal, timeoutMs, maxResponseBytes }: Attempt,
    resolve: (reply: AttemptReply) => void,
    reject: (error: unknown) => void,
    release: () => void,
  ) {
    this.#release = release;
    this.#signal = signal;
    this.#maxBytes = maxResponseBytes;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
    if (timeoutMs !== null) {
      const late = () => this.#fail(new AttemptTimeout(timeoutMs));
      this.#timer = setTimeout(late, Math.min(timeoutMs, LONGEST_TIMER_MS));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It may have been given up while it waited for a connection.
    if (this.#isOver) controller.abort(new Error("given up"));
    else this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AttemptReply["headers"]): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#fail(new AnswerTooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#release();
    if (!this.#end()) return;
    const [only] = this.#chunks;
    const text = (only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks)).toString("utf8");
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#release();
    if (this.#end()) this.#reject(error);
  }

  #fail(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error("given up"));
  }

  /** True for the first who ends it. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    return true;
  }
}

// One pool per address for all servers of the process: sockets are reused whoever asks.
const pools = processWide("pools", () => new Map<string, ConnectionPool>());

/** The connections to an address. */
export function connectionsTo(origin: string, connectTimeoutMs: number): Connections {
  const key = `${origin} ${connectTimeoutMs}`;
  let pool = pools.get(key);
  if (!pool) {
    pool = new ConnectionPool(origin, {
      // How many calls run at once is the limiter's to say: this many with each model and key.
      maxConnections: 4 * MOST_CONCURRENT,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectTimeoutMs,
    });
    pools.set(key, pool);
  }
  return pool;
}
