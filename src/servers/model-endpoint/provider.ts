import type { Logger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { dumpsCompact, isObject } from "../../base/python/json/door.ts";
import { answerRedactor, redactor } from "../../base/secrets.ts";
import { type Attributes, currentSpan, traceParent } from "../../base/telemetry/light-door.ts";
import { type HttpAnswer, type HttpRequest, RequestTimeout } from "../../base/transport/door.ts";
import { nextDelay, type RetryBudget, Semaphore, sleep, steadyNow } from "../../base/transport/light-door.ts";
import { countOf } from "../../wire/convert/door.ts";
import { admit, Exhausted } from "./admission.ts";
import type { ApiKey } from "./api-key.ts";
import { type CostMeter, costOf } from "./cost.ts";
import {
  chooseEndpoint,
  type Endpoint,
  lowerCase,
  openHeaders,
  replicaOf,
  requestPath,
  secretHeaders,
} from "./endpoint.ts";
import { CallReports, gaveUp } from "./failed-attempts.ts";
import { workerShare } from "./limit-shares.ts";
import type { EndpointSignal, ProviderCall, ProviderReply, SignalReply } from "./provider-call.ts";
import { AttemptTimeout, ProviderError } from "./provider-error.ts";
import { failureOfError } from "./read-failure.ts";
import { parseReplyJson, readReply } from "./read-reply.ts";
import { type CacheKeyParts, ResponseCache } from "./response-cache.ts";
import type { Price, ProviderSettings } from "./settings.ts";

const NOTHING_TRIED: ReadonlySet<Endpoint> = new Set();
/** A failure that looks permanent ends the call after this many attempts, or one for each replica. */
const LASTING_ATTEMPTS = 3;

export interface ProviderParts {
  endpoints: readonly Endpoint[];
  apiKey: ApiKey;
  /** The headers with the key. */
  authorize: (apiKey: string) => Record<string, string>;
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  settings: ProviderSettings;
  /** Concurrent calls of this server; null: as many as the endpoint accepts. */
  maxConcurrent: number | null;
  price: Price | undefined;
  /** Whether its tokens are free. */
  free: boolean;
  meters: readonly CostMeter[];
  cache: ResponseCache | undefined;
  log: Logger;
}

/** The headers of requests, and functions that remove their secrets from a text. */
interface Credentials {
  headers: Readonly<Record<string, string>>;
  redact: (text: string) => string;
  redactAnswer: (text: string) => string;
}

interface Answer<T> {
  value: T;
  reply: HttpAnswer;
  usage: unknown;
  replica: number;
}

interface Progress {
  /** When the first attempt failed, or when the call started. */
  since: number;
  last?: ProviderError;
  /** Probes during an outage. They are limited by time only, so that a single call can outlast an outage. */
  probes: number;
  /** How long the attempts waited until they were sent. */
  waitedMs: number;
}

/**
 * The client of an external model endpoint: one budget for all retries, a breaker and a shared limit per endpoint, and
 * errors that quote the endpoint. A server keeps one for its lifetime.
 */
export class Provider {
  readonly #parts: ProviderParts;
  readonly #budget: RetryBudget;
  readonly #own: Semaphore | undefined;
  readonly #timeoutMs: number | null;
  readonly #maxResponseBytes: number;
  #credentials: Credentials;
  readonly #reports: CallReports;
  /** Endpoints that have answered. Their host exists, so a failed name lookup is temporary. */
  readonly #answered = new WeakSet<Endpoint>();

  constructor(parts: ProviderParts) {
    const { settings } = parts;
    this.#parts = parts;
    this.#reports = new CallReports(parts.log, settings.retry_attempts);
    this.#own = parts.maxConcurrent === null ? undefined : new Semaphore(parts.maxConcurrent);
    this.#maxResponseBytes = settings.max_response_mb * 1024 * 1024;
    const { request_timeout_seconds: timeout } = settings;
    this.#timeoutMs = timeout === null ? null : Math.ceil(timeout * 1000);
    this.#budget = {
      attempts: settings.retry_attempts,
      wallClockMs: settings.retry_seconds === null ? null : settings.retry_seconds * 1000,
      baseDelayMs: settings.retry_first_pause_seconds * 1000,
      maxDelayMs: settings.retry_longest_pause_seconds * 1000,
    };
    this.#credentials = credentialsOf(parts);
  }

  get hosts(): string[] {
    return this.#parts.endpoints.map(({ url }) => url.host);
  }

  /** Removes the API key from a text. */
  redact(text: string): string {
    return this.#credentials.redact(text);
  }

  /** Makes one call with retries and returns the result of `read`. */
  async call<T>(call: ProviderCall<T>): Promise<ProviderReply<T>> {
    const { meters, price, free } = this.#parts;
    const body = call.rawBody ?? (call.body === undefined ? undefined : dumpsCompact(call.body));
    const key = this.#cacheKey(call, body);
    const kept = key && (await this.#fromCache(key, call));
    if (kept) return kept;
    for (const meter of meters) meter.check();
    const { value, reply, usage, replica, retries, waitedMs } = await this.#withRetries(call, body);
    const span = currentSpan();
    if (span) {
      const waited = { "nemo.gym.model.retries": retries, "nemo.gym.model.waited_ms": waitedMs };
      span.set({ ...addressOf(this.#parts.endpoints[replica]), ...waited });
    }
    if (key) void this.#parts.cache?.keep(ResponseCache.key(key), key, reply.text);
    const cost = costOf(usage, price, reply.headers);
    if (cost !== null) for (const meter of meters) meter.add(cost);
    else if (!free) this.#reports.uncounted(this.hosts, meters, price);
    return { value, cost, cached: false, retries, waitedMs, replica };
  }

  /** Sends a request once to every replica, immediately: it must not wait behind the calls that it affects. */
  async signalAll({ path, body, signal }: EndpointSignal): Promise<SignalReply[]> {
    return Promise.all(
      this.#parts.endpoints.map(async (endpoint) => {
        const { url } = endpoint;
        const { status, text } = await this.#request(endpoint, {
          path: withoutVersion(url.basePath) + path,
          method: "POST",
          body,
          signal,
        });
        return { host: url.host, status, text };
      }),
    );
  }

  /** Sends one request. An endpoint that echoes its request would write the key into results, so it is removed. */
  async #request(
    { url, connections }: Endpoint,
    request: Pick<ProviderCall<unknown>, "headers" | "signal"> &
      Pick<HttpRequest, "path" | "method" | "body">,
  ): Promise<HttpAnswer> {
    const { headers, redact, redactAnswer } = this.#credentials;
    const timeoutMs = this.#timeoutMs;
    const span = currentSpan();
    // Inference servers such as vLLM continue the trace.
    const trace = span?.context && { traceparent: traceParent(span.context) };
    try {
      const reply = await connections.request(url.origin, {
        ...request,
        headers: request.headers || trace ? { ...headers, ...request.headers, ...trace } : headers,
        timeoutMs,
        maxBytes: this.#maxResponseBytes,
        // Without this, a request on a closed connection would be retried after a delay and count as a failure of the
        // endpoint.
        resendable: true,
      });
      return { ...reply, text: redactAnswer(reply.text) };
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      const cause = error instanceof RequestTimeout ? new AttemptTimeout(timeoutMs ?? 0) : error;
      throw failureOfError(cause, url.host, redact);
    }
  }

  #cacheKey(call: ProviderCall<unknown>, body: string | undefined): CacheKeyParts | undefined {
    const { cache, endpoints, query } = this.#parts;
    if (!cache || body === undefined) return undefined;
    // The key of an account does not affect the answer; a header such as `anthropic-beta` does.
    const headers = openHeaders({ ...lowerCase(this.#parts.headers), ...call.headers });
    const repeat = /-(\d+)(?:-a\d+)?$/.exec(call.rolloutId ?? "")?.[1] ?? "";
    const url = endpoints[0]?.url;
    return { url: `${url?.origin}${url ? requestPath(url, call.path, query) : ""}`, headers, body, repeat };
  }

  async #fromCache<T>(key: CacheKeyParts, call: ProviderCall<T>): Promise<ProviderReply<T> | undefined> {
    const reply = await this.#parts.cache?.find(ResponseCache.key(key));
    if (!reply) return undefined;
    try {
      return {
        value: call.read(parseReplyJson(reply.text, call.exactNumbers), reply),
        cost: 0,
        cached: true,
        retries: 0,
        waitedMs: 0,
        replica: 0,
      };
    } catch (error) {
      this.#parts.log.warn(`an answer in the cache cannot be used: ${errorMessage(error)}`);
      return undefined;
    }
  }

  async #withRetries<T>(
    call: ProviderCall<T>,
    body: string | undefined,
  ): Promise<Answer<T> & { retries: number; waitedMs: number }> {
    const { endpoints } = this.#parts;
    const first = call.replica ?? (endpoints.length > 1 ? replicaOf(stickyKey(call), endpoints.length) : 0);
    let failed = NOTHING_TRIED;
    const progress: Progress = { since: steadyNow(), probes: 0, waitedMs: 0 };
    let lasting = 0;
    for (let attempt = 1; ; attempt++) {
      const endpoint = chooseEndpoint(endpoints, first, failed);
      try {
        const asked = steadyNow();
        const send = () => this.#attempt(endpoint, call, body, progress, asked);
        const answer = await (this.#own ? this.#inTurn(this.#own, send, call.signal) : send());
        return { ...answer, retries: attempt - 1, waitedMs: Math.round(progress.waitedMs) };
      } catch (error) {
        if (error instanceof Exhausted)
          throw gaveUp(this.#tooLongToWait(error.last), attempt - 1, progress.since);
        if (!(error instanceof ProviderError)) throw error;
        // The budget starts with the first failure: neither waiting nor a slow response uses it up.
        if (!progress.last) progress.since = steadyNow();
        progress.last = error;
        if (await this.#keyRenewed(error)) continue;
        if (error.lasting) lasting++;
        const hopeless = lasting >= Math.max(LASTING_ATTEMPTS, endpoints.length);
        // Probes while the endpoint is down do not use attempts.
        const counted = Math.max(1, attempt - progress.probes);
        const delay =
          error.failure.retryable && !hopeless && !call.once
            ? nextDelay(this.#budget, {
                attempt: counted,
                elapsedMs: steadyNow() - progress.since,
                retryAfterMs: error.retryAfterMs,
              })
            : undefined;
        if (delay === undefined) throw gaveUp(this.#tooLongToWait(error), attempt, progress.since);
        const mostAttempts = error.lasting ? LASTING_ATTEMPTS : this.#budget.attempts;
        this.#reports.failed({
          endpoint,
          path: call.path,
          error,
          attempt: counted,
          since: progress.since,
          mostAttempts,
        });
        failed = new Set([...failed, endpoint]);
        const next = chooseEndpoint(endpoints, first, failed);
        if (failed.has(next) || next.breaker.isOpen) await sleep(delay, call.signal);
      }
    }
  }

  /** The limit of the server is divided among the workers of a run, and adapts to their number. */
  async #inTurn<T>(own: Semaphore, attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { maxConcurrent } = this.#parts;
    const share = maxConcurrent === null ? null : Math.max(1, workerShare(maxConcurrent));
    if (share !== own.limit) own.resize(share);
    return own.run(attempt, signal);
  }

  async #attempt<T>(
    endpoint: Endpoint,
    call: ProviderCall<T>,
    body: string | undefined,
    progress: Progress,
    /** When the attempt could have been sent. */
    asked: number,
  ): Promise<Answer<T>> {
    const longestOutageMs = this.#budget.wallClockMs ?? Number.POSITIVE_INFINITY;
    const admission = await admit(endpoint, {
      isLimited: this.#parts.settings.adaptive_concurrency,
      signal: call.signal,
      giveUpAt: progress.since + longestOutageMs,
      longestOutageMs,
      last: progress.last,
    });
    progress.waitedMs += admission.startedAt - asked;
    try {
      const answer = await this.#send(endpoint, call, body);
      admission.succeeded(outputTokensOf(answer.usage));
      return answer;
    } catch (error) {
      if (admission.isProbe) progress.probes++;
      admission.failed(error);
      throw error;
    }
  }

  async #send<T>(endpoint: Endpoint, call: ProviderCall<T>, body: string | undefined): Promise<Answer<T>> {
    const { query } = this.#parts;
    const { url } = endpoint;
    const base = call.besideBase ? { ...url, basePath: withoutVersion(url.basePath) } : url;
    let reply: HttpAnswer;
    try {
      reply = await this.#request(endpoint, {
        path: requestPath(base, call.path, query),
        method: call.method ?? "POST",
        headers: call.headers,
        body,
        signal: call.signal,
      });
    } catch (error) {
      const isPassing = error instanceof ProviderError && error.lasting && this.#answered.has(endpoint);
      throw isPassing ? error.restated(error.message, false) : error;
    }
    this.#answered.add(endpoint);
    const { redact } = this.#credentials;
    const answer = readReply(reply, call, { host: url.host, path: base.basePath + call.path, redact });
    return { ...answer, reply, replica: this.#parts.endpoints.indexOf(endpoint) };
  }

  /** Adds to the message that the endpoint asks for a longer pause than the budget allows. */
  #tooLongToWait(error: ProviderError): ProviderError {
    const { retryAfterMs } = error;
    const { wallClockMs } = this.#budget;
    if (retryAfterMs === undefined || wallClockMs === null || retryAfterMs <= wallClockMs) return error;
    const asked = `it asks to wait ${Math.ceil(retryAfterMs / 1000)} s, more than retry_seconds (${wallClockMs / 1000})`;
    return error.restated(`${error.message}; ${asked}`);
  }

  /** A rejected key may have been replaced in its file since then. */
  async #keyRenewed({ providerStatus }: ProviderError): Promise<boolean> {
    if (providerStatus !== 401 && providerStatus !== 403) return false;
    try {
      if (!(await this.#parts.apiKey.renew())) return false;
    } catch (error) {
      this.#parts.log.warn(errorMessage(error));
      return false;
    }
    this.#credentials = credentialsOf(this.#parts);
    return true;
  }
}

function credentialsOf({ apiKey, authorize, headers }: ProviderParts): Credentials {
  const authorization = authorize(apiKey.value);
  const secrets = [apiKey.value, ...Object.values(authorization), ...secretHeaders(headers)];
  return {
    headers: { "content-type": "application/json", ...lowerCase(headers), ...authorization },
    redact: redactor(secrets),
    redactAnswer: answerRedactor(secrets),
  };
}

/** The address of an endpoint, as attributes of a span. */
function addressOf(endpoint: Endpoint | undefined): Attributes {
  if (endpoint === undefined) return {};
  const { hostname, port, protocol } = new URL(endpoint.url.origin);
  const preset = protocol === "https:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? preset : Number(port) };
}

/** A base path without its last `/v1`. */
function withoutVersion(basePath: string): string {
  return basePath.replace(/\/v1$/, "");
}

/** The key that selects the replica: the same for all attempts of a rollout. */
function stickyKey({ rolloutId, sessionId }: ProviderCall<unknown>): string {
  return rolloutId?.replace(/-a\d+$/, "") ?? sessionId ?? "";
}

function outputTokensOf(usage: unknown): number | null {
  if (!isObject(usage)) return null;
  return countOf(usage["output_tokens"] ?? usage["completion_tokens"]);
}
