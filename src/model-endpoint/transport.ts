import { Deadline } from "../calls/deadline.ts";
import { type HttpAnswer, HttpClient } from "../calls/http-client.ts";
import { GymError } from "../errors.ts";
import { MOST_CONCURRENT } from "./adaptive-limit.ts";
import { processWide } from "./process-wide.ts";

/** An idle connection is closed after this time; endpoints behind balancers drop it themselves after a minute or so. */
const KEEP_ALIVE_MS = 20_000;

export interface Attempt {
  connections: HttpClient;
  origin: string;
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

/** Sends one request over a pooled connection. */
export async function sendAttempt(attempt: Attempt): Promise<AttemptReply> {
  const { connections, origin, timeoutMs, maxResponseBytes: maxBytes, ...request } = attempt;
  // A request on a closed connection would be tried again anyway, after a pause and as a failure of the endpoint.
  const send = (signal: AbortSignal) =>
    connections.request(origin, { ...request, signal, maxBytes, resendable: true });
  if (timeoutMs === null) return send(attempt.signal);
  const deadline = new Deadline(timeoutMs, attempt.signal);
  try {
    return await send(deadline.signal);
  } catch (error) {
    throw deadline.passed ? new AttemptTimeout(timeoutMs) : error;
  } finally {
    deadline.clear();
  }
}

// Shared by all servers of the process: sockets are reused whoever asks.
const clients = processWide("http-clients", () => new Map<number, HttpClient>());

/** The connections to model endpoints. */
export function endpointConnections(connectTimeoutMs: number): HttpClient {
  let client = clients.get(connectTimeoutMs);
  if (!client) {
    client = new HttpClient({
      connectTimeoutMs,
      keepAliveMs: KEEP_ALIVE_MS,
      // How many calls run at once is the limiter's to say: this many with each model and key.
      maxConnections: 4 * MOST_CONCURRENT,
      proxy: true,
    });
    clients.set(connectTimeoutMs, client);
  }
  return client;
}
