import { createHash } from "node:crypto";
import { type Logger, processWide } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import { isSecretHeader } from "../../base/secrets.ts";
import { HttpClient } from "../../base/transport/door.ts";
import { AdaptiveLimit, MOST_CONCURRENT, type SlowDown } from "./adaptive-limit.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ownShare } from "./limit-shares.ts";

/** A parsed base URL. */
export interface EndpointUrl {
  /** `https://api.example.com` */
  origin: string;
  /** `api.example.com`, with the port if given; used in messages. */
  host: string;
  /** `/v1`, without a slash at the end. */
  basePath: string;
  /** Origin and base path. Identifies the endpoint. */
  text: string;
}

/** Paths that users often copy with a base URL, with or without a following `/v1`. */
const ENDPOINT_PATH = /(\/chat\/completions|(?<=\/v1)\/(?:completions|responses|messages))\/*(?:\/v1)?\/*$/;

/** Parses a configured base URL. Throws an error that names the key if no request can be sent to it. */
export function parseEndpointUrl(text: string, key: string): EndpointUrl {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw badUrl(key, "is not a URL; write it like https://api.example.com/v1");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw badUrl(key, `begins with '${url.protocol}'; http: or https: is needed`);
  }
  if (url.username !== "" || url.password !== "") {
    throw badUrl(key, "carries a user or password; put the credentials into the API key or the headers");
  }
  if (url.search !== "" || url.hash !== "") {
    throw badUrl(key, "has a query or fragment; put the query into `default_query`");
  }
  const endpoint = ENDPOINT_PATH.exec(url.pathname)?.[1];
  if (endpoint !== undefined) {
    throw badUrl(key, `ends in '${endpoint}', which is added to it; write only the part before`);
  }
  const basePath = url.pathname.replace(/\/+$/, "");
  return { origin: url.origin, host: url.host, basePath, text: url.origin + basePath };
}

// The message omits the value, because people paste keys into URLs.
function badUrl(key: string, problem: string): GymError {
  return new GymError("PROVIDER_URL", `${key} ${problem}.`);
}

/** Path and query of a request below the base. */
export function requestPath(
  url: EndpointUrl,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const names = Object.keys(query);
  if (names.length === 0) return url.basePath + path;
  return `${url.basePath}${path}?${new URLSearchParams(query)}`;
}

/** The values of headers that hold secrets. */
export function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []));
}

/** Headers without secrets, sorted by name. */
export function openHeaders(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers)
    .filter(([name]) => !isSecretHeader(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Header names in the form in which they are compared. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** An idle connection is closed after this time; load balancers close it after about a minute. */
const KEEP_ALIVE_MS = 20_000;

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
  use: { model: string; apiKey: string; connections: HttpClient; log: Logger },
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
