import { createHash } from "node:crypto";
import type { HttpClient } from "../calls/http-client.ts";
import { AdaptiveLimit, type CallLimit } from "./adaptive-limit.ts";
import { type Breaker, type BreakerEvents, CircuitBreaker } from "./circuit-breaker.ts";
import type { EndpointUrl } from "./endpoint-url.ts";
import { processWide } from "./process-wide.ts";
import { runConnection } from "./shared/run-connection.ts";

interface LogLike {
  warn(message: string): void;
  info(message: string): void;
}

/** One address with what all servers of the run know about it. */
export interface Endpoint {
  readonly url: EndpointUrl;
  readonly breaker: Breaker;
  readonly limit: CallLimit;
  readonly connections: HttpClient;
}

const breakers = processWide("breakers", () => new Map<string, CircuitBreaker>());
const limits = processWide("limits", () => new Map<string, AdaptiveLimit>());
/** Breakers whose changes a server of this process tells. */
const told = processWide("told-breakers", () => new WeakSet<CircuitBreaker>());

/** The endpoint for a model and key; breaker and limit are those of every other server of the run that calls the same one. */
export async function sharedEndpoint(
  url: EndpointUrl,
  use: { model: string; apiKey: string; connections: HttpClient; log: LogLike },
): Promise<Endpoint> {
  const { model, apiKey, connections, log } = use;
  const events: BreakerEvents = {
    opened: (failure) => log.warn(`${failure.message}; calls wait until it answers again`),
    closed: (downMs) => log.info(`${url.host} answers again after ${(downMs / 1000).toFixed(1)} s`),
  };
  const account = createHash("sha256").update(apiKey).digest("hex").slice(0, 16);
  const key = `${url.text} ${model} ${account}`;
  const run = runConnection();
  if (!run) return { url, breaker: localBreaker(url.text, events), limit: localLimit(key), connections };
  const limit = run.limit(key);
  await limit.joined;
  return { url, breaker: run.breaker(url.text, events), limit, connections };
}

/** The limit of this process, and of those that share it. */
export function localLimit(key: string): AdaptiveLimit {
  let limit = limits.get(key);
  if (!limit) {
    limit = new AdaptiveLimit();
    limits.set(key, limit);
  }
  return limit;
}

/** The breaker of this process, and of those that share it; the first server to use it says what happens. */
export function localBreaker(key: string, events?: BreakerEvents): CircuitBreaker {
  let breaker = breakers.get(key);
  if (!breaker) {
    breaker = new CircuitBreaker();
    breakers.set(key, breaker);
  }
  if (events && !told.has(breaker)) {
    told.add(breaker);
    breaker.subscribe(events);
  }
  return breaker;
}

/** Forgets what is known about every endpoint; for tests. */
export function forgetEndpoints(): void {
  breakers.clear();
  limits.clear();
}

/** Which replica a session belongs to: the first eight bytes of the SHA-256 of its id, modulo their number. */
export function replicaOf(sessionId: string, replicas: number): number {
  if (replicas <= 1) return 0;
  const head = createHash("sha256").update(sessionId).digest().readBigUInt64BE(0);
  return Number(head % BigInt(replicas));
}

/**
 * The endpoint for the next attempt: the session's own, or the next one in the circle that is up and has not failed this
 * call. When all are down it is the one that is tried again first.
 */
export function chooseEndpoint(
  endpoints: readonly Endpoint[],
  first: number,
  failed: ReadonlySet<Endpoint>,
): Endpoint {
  const circle = endpoints.map((_, offset) => endpoints[(first + offset) % endpoints.length] as Endpoint);
  const untried = circle.find((endpoint) => !endpoint.breaker.isOpen && !failed.has(endpoint));
  if (untried) return untried;
  const up = circle.find((endpoint) => !endpoint.breaker.isOpen);
  if (up) return up;
  return circle.reduce((best, endpoint) =>
    endpoint.breaker.probeAt < best.breaker.probeAt ? endpoint : best,
  );
}
