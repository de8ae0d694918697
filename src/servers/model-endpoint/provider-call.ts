import type { HttpAnswer } from "../../base/transport/door.ts";

export interface ProviderCall<T> {
  /** Below the base URL, such as `/chat/completions`. */
  path: string;
  method?: "GET" | "POST";
  body?: Readonly<Record<string, unknown>>;
  /** The body as text, for callers that have already serialized it. */
  rawBody?: string;
  signal: AbortSignal;
  /**
   * Creates the result from the parsed body; a ValidationError or ConversionError means that the answer is unusable.
   */
  read(body: unknown, reply: HttpAnswer): T;
  /** Whether the body is parsed without loss: integers beyond 2^53 as bigint, `1.0` as a float. */
  exactNumbers?: boolean;
  headers?: Readonly<Record<string, string>>;
  /** A rollout stays with its replica, regardless of the worker; calls outside rollouts use the session. */
  sessionId?: string;
  rolloutId?: string;
  /** Whether the path is below the host instead of the base URL's last `/v1`. */
  besideBase?: boolean;
  /** The replica of an earlier call that this one continues. */
  replica?: number;
  /** Whether the call is never retried. */
  once?: boolean;
}

export interface ProviderReply<T> {
  value: T;
  /** Dollars; 0 for an answer from the cache, null when the price is unknown. */
  cost: number | null;
  cached: boolean;
  /** Failed attempts before this answer. */
  retries: number;
  /** Whole milliseconds that the attempts waited for a slot: the limits of the server and of the endpoint. */
  waitedMs: number;
  /** The index of the base URL that answered. */
  replica: number;
}

/** A request to all replicas that is not a model call. */
export interface EndpointSignal {
  /** Below the host, with its query: `/pause?mode=keep`. */
  path: string;
  body?: string;
  signal: AbortSignal;
}

export interface SignalReply {
  host: string;
  status: number;
  text: string;
}
