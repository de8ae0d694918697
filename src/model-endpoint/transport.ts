import { ConnectionPool } from "../calls/connection-pool.ts";
import type { HttpAnswer } from "../calls/http1/exchange.ts";
import { GymError } from "../errors.ts";
import { MOST_CONCURRENT } from "./adaptive-limit.ts";
import { processWide } from "./process-wide.ts";

/** An idle connection is closed after this time; endpoints behind balancers drop it themselves after a minute or so. */
const KEEP_ALIVE_MS = 20_000;

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

export type AttemptReply = HttpAnswer;

/** An attempt took longer than it may. */
export class AttemptTimeout extends GymError {
  constructor(milliseconds: number) {
    super("PROVIDER_TIMEOUT", `no answer within ${milliseconds / 1000} s (request_timeout_seconds)`);
  }
}

const late = (milliseconds: number) => new AttemptTimeout(milliseconds);

/** Sends one request over a pooled connection. */
export function sendAttempt(attempt: Attempt): Promise<AttemptReply> {
  const { connections, path, method, headers, body, signal, timeoutMs, maxResponseBytes: maxBytes } = attempt;
  // It would be tried again anyway, after a pause and as a failure of the endpoint.
  const resendable = true;
  return connections.request({
    path,
    method,
    headers,
    body,
    signal,
    timeoutMs,
    late,
    maxBytes,
    resendable,
  });
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
      keepAliveMs: KEEP_ALIVE_MS,
      connectTimeoutMs,
    });
    pools.set(key, pool);
  }
  return pool;
}
