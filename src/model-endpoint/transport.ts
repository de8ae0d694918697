import { type HttpAnswer, HttpClient, RequestTimeout } from "../calls/http-client.ts";
import { GymError } from "../errors.ts";
import { processWide } from "../process-wide.ts";
import { JsonTextError, loads, loadsPlain } from "../python/json/json-loads.ts";
import { MOST_CONCURRENT } from "./adaptive-limit.ts";

/** An idle connection is closed after this time; load balancers close it after about a minute. */
const KEEP_ALIVE_MS = 20_000;

export interface Attempt {
  connections: HttpClient;
  origin: string;
  path: string;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal: AbortSignal;
  /** Time limit from the start to the last received byte; null: as long as the signal allows. */
  timeoutMs: number | null;
  maxBytes: number;
}

export type AttemptReply = HttpAnswer;

/** An attempt exceeded its time limit. */
export class AttemptTimeout extends GymError {
  constructor(milliseconds: number) {
    super("PROVIDER_TIMEOUT", `no answer within ${milliseconds / 1000} s (request_timeout_seconds)`);
  }
}

/** Sends one request over a pooled connection. */
export async function sendAttempt({ connections, origin, ...attempt }: Attempt): Promise<AttemptReply> {
  try {
    // Without this, a request on a closed connection would be retried after a delay and count as a failure of the
    // endpoint.
    return await connections.request(origin, { ...attempt, resendable: true });
  } catch (error) {
    throw error instanceof RequestTimeout ? new AttemptTimeout(attempt.timeoutMs ?? 0) : error;
  }
}

// Shared by all servers of the process, so that they reuse sockets.
const clients = processWide("http-clients", () => new Map<number, HttpClient>());

/** The connections to model endpoints. */
export function endpointConnections(connectTimeoutMs: number): HttpClient {
  let client = clients.get(connectTimeoutMs);
  if (!client) {
    client = new HttpClient({
      connectTimeoutMs,
      keepAliveMs: KEEP_ALIVE_MS,
      // The adaptive limit bounds calls per model and key; this bounds an address with several models and keys.
      maxConnections: 4 * MOST_CONCURRENT,
      proxy: true,
    });
    clients.set(connectTimeoutMs, client);
  }
  return client;
}

/**
 * Parses the JSON of an answer. Endpoints written in Python send `NaN` and `-Infinity` for nearly impossible tokens,
 * and some send a byte-order mark; both are accepted. Throws a JsonTextError with the problem and its position.
 */
export function parseAnswer(text: string, exactNumbers = false): unknown {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (exactNumbers) return loads(body, { allowNonFinite: true });
  try {
    return JSON.parse(body);
  } catch {
    return loadsPlain(body, { allowNonFinite: true });
  }
}

/** The reader's description of text that is not JSON, for a message. */
export function jsonProblem(error: unknown): string {
  return error instanceof JsonTextError && error.position > 0
    ? `the body is not JSON (${error.message})`
    : "the body is not JSON";
}
