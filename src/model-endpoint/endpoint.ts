import { createHash } from "node:crypto";
import type { HttpClient } from "../calls/http-client.ts";
import { processWide } from "../process-wide.ts";
import { AdaptiveLimit, MOST_CONCURRENT, type SlowDown } from "./adaptive-limit.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ownShare } from "./limit-shares.ts";
import type { EndpointUrl } from "./request.ts";

interface LogLike {
  warn(message: string): void;
  info(message: string): void;
}

/** One address, with the breaker and the limit that all servers of this process share. */
export interface Endpoint {
  readonly url: EndpointUrl;
  readonly breaker: CircuitBreaker;
  readonly limit: AdaptiveLimit;
  readonly connections: HttpClient;
}

const breakers = processWide("breakers", () => new Map<string, CircuitBreaker>());
const limits = processWide("limits", () => new Map<string, AdaptiveLimit>());

/** `key` identifies an address, model and API key without disclosing them. */
type SlowDownListener = (key: string, slowDown: SlowDown) => void;
const listeners = processWide("slow-down-listeners", () => new Set<SlowDownListener>());

/** The endpoint for a model and key. Servers of this process that call the same one share its breaker and its limit. */
export function sharedEndpoint(
  url: EndpointUrl,
  use: { model: string; apiKey: string; connections: HttpClient; log: LogLike },
): Endpoint {
  const { model, apiKey, connections, log } = use;
  const key = digest(`${url.text} ${model} ${digest(apiKey)}`);
  const limit = limits.get(key) ?? newLimit(key);
  // The first server that uses a breaker logs its changes.
  const breaker =
    breakers.get(url.text) ??
    new CircuitBreaker({
      opened: (failure) => log.warn(`${failure.message}; calls wait until it answers again`),
      closed: (downMs) => log.info(`${url.host} answers again after ${(downMs / 1000).toFixed(1)} s`),
    });
  breakers.set(url.text, breaker);
  return { url, breaker, limit, connections };
}

function newLimit(key: string): AdaptiveLimit {
  const limit = new AdaptiveLimit(ownShare(MOST_CONCURRENT));
  limit.onSlowDown = (slowDown) => {
    for (const listener of listeners) listener(key, slowDown);
  };
  limits.set(key, limit);
  return limit;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Subscribes to slow-down requests of endpoints to this process. Returns a function that unsubscribes. */
export function onSlowDown(listener: SlowDownListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Slows down calls to an endpoint that asked another process for it. Ignores endpoints that this process does not call.
 */
export function slowDownEndpoint(key: string, slowDown: SlowDown): void {
  limits.get(key)?.slowDown(slowDown);
}

/** Clears the state of every endpoint; for tests. */
export function forgetEndpoints(): void {
  breakers.clear();
  limits.clear();
}

/** The replica of a session: the first eight bytes of the SHA-256 of its id, modulo the number of replicas. */
export function replicaOf(sessionId: string, replicas: number): number {
  if (replicas <= 1) return 0;
  const head = createHash("sha256").update(sessionId).digest().readBigUInt64BE(0);
  return Number(head % BigInt(replicas));
}

/**
 * The endpoint for the next attempt: the session's, or the next one in cyclic order that is up and has not failed this
 * call. If all are down, the one that is probed next.
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
