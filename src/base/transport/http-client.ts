import type { Agent, Dispatcher } from "undici";
import { LONGEST_TIMER_MS } from "./deadline.ts";
import { decodeBody } from "./decode-body.ts";
import { ConnectionError, connectionError } from "./errors.ts";
import { hold, poolOfSafeSockets, release } from "./held-bodies.ts";
import { LARGE_BODY_BYTES, largeBodies } from "./large-bodies.ts";
import { undici } from "./lazy-undici.ts";

/** Maximum size of response headers. */
const MAX_HEADER_BYTES = 64 * 1024;
const FIRST_BUFFER_BYTES = 16 * 1024;
/**
 * undici scans all busy connections of a pool for a free one, twice per request; with thousands of connections that
 * dominates the cost.
 */
const CONNECTIONS_PER_POOL = 256;

export interface HttpRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
  signal?: AbortSignal;
  /** Time limit from the start to the last received byte; null or absent: as long as the signal allows. */
  timeoutMs?: number | null;
  /** Maximum size of the response body, also after decompression. */
  maxBytes: number;
  /** Whether the request is sent again, once, when the connection closes before a response. */
  resendable?: boolean;
}

/** Headers by lower-case name; a repeated header has all its values. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

export interface HttpAnswer {
  status: number;
  headers: ResponseHeaders;
  text: string;
}

export interface HttpClientOptions {
  connectTimeoutMs: number;
  /** An idle connection is closed after this time. */
  keepAliveMs: number;
  /** Connections to one address; further requests wait for a free one. */
  maxConnections: number;
  /** Uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Addresses of this machine are never proxied. */
  proxy?: boolean;
}

interface RequestPool {
  dispatcher: Dispatcher;
  inFlight: number;
}

/** Sends requests over pooled connections. Redirects are not followed, so that keys are not sent to another host. */
export class HttpClient {
  readonly #newDispatcher: () => Dispatcher;
  readonly #maxPools: number;
  /** Requests use the first pool with a free connection, so that few requests use few connections. */
  readonly #pools: RequestPool[] = [];

  constructor({ connectTimeoutMs, keepAliveMs, maxConnections, proxy }: HttpClientOptions) {
    const options: Agent.Options = {
      connections: Math.min(maxConnections, CONNECTIONS_PER_POOL),
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Callers set their own deadlines: a model may take half an hour.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectTimeoutMs },
      factory: poolOfSafeSockets,
    };
    this.#maxPools = Math.ceil(maxConnections / CONNECTIONS_PER_POOL);
    this.#newDispatcher = () => {
      const { Agent, EnvHttpProxyAgent } = undici();
      return proxy && hasProxy()
        ? new EnvHttpProxyAgent({ ...options, noProxy: noProxy() })
        : new Agent(options);
    };
  }

  async request(origin: string, request: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs = null } = request;
    const startedAt = performance.now();
    try {
      return await this.#send(origin, request);
    } catch (error) {
      if (!request.resendable || !(error instanceof ClosedBeforeAnswer)) throw error;
      const left = timeoutMs === null ? null : Math.max(0, timeoutMs - (performance.now() - startedAt));
      return await this.#send(origin, { ...request, timeoutMs: left });
    }
  }

  /** Closes all connections; running requests fail. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map(({ dispatcher }) => dispatcher.destroy()));
  }

  async #send(origin: string, request: HttpRequest): Promise<HttpAnswer> {
    request.signal?.throwIfAborted();
    const { method, path, body = null } = request;
    const headers = { "accept-encoding": "identity", ...request.headers };
    const pool = this.#pool();
    pool.inFlight++;
    try {
      return await new Promise((resolve, reject) => {
        const exchange = new Exchange(request, resolve, reject);
        pool.dispatcher.dispatch({ origin, method, path, headers, body }, exchange);
      });
    } finally {
      pool.inFlight--;
    }
  }

  #pool(): RequestPool {
    const pools = this.#pools;
    for (const pool of pools) if (pool.inFlight < CONNECTIONS_PER_POOL) return pool;
    if (pools.length >= this.#maxPools)
      return pools.reduce((least, pool) => (pool.inFlight < least.inFlight ? pool : least));
    const added = { dispatcher: this.#newDispatcher(), inFlight: 0 };
    pools.push(added);
    return added;
  }
}

/** The response was not complete in time. */
export class RequestTimeout extends Error {}

/** The connection closed before a response: the server may have closed an idle connection that was being reused. */
class ClosedBeforeAnswer extends ConnectionError {}

/** One request and its response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #body: BodyBuffer;
  readonly #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: ResponseHeaders = {};
  /** Resumes reading a large body. */
  #resume: (() => void) | undefined;
  /** Whether a large body waits for its turn. */
  #waits = false;
  #ended = false;

  constructor(request: HttpRequest, resolve: (answer: HttpAnswer) => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#body = new BodyBuffer(request.maxBytes);
    request.signal?.addEventListener("abort", this.#onAbort);
    const { timeoutMs = null } = request;
    if (timeoutMs !== null && timeoutMs <= LONGEST_TIMER_MS)
      this.#timer = setTimeout(
        () => this.#fail(new RequestTimeout(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
  }

  readonly #onAbort = (): void => this.#fail(this.#request.signal?.reason);

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The request was aborted while it waited for a connection.
    if (this.#ended) controller.abort(new ConnectionError("CONNECTION_CLOSED", "given up"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const announced = Number(headers["content-length"]);
    if (announced > this.#request.maxBytes) controller.abort(tooLarge());
    else if (announced >= LARGE_BODY_BYTES) this.#takeTurn(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.append(chunk)) controller.abort(tooLarge());
    else if (this.#waits) hold(controller);
    else if (this.#resume === undefined && this.#body.length >= LARGE_BODY_BYTES) this.#takeTurn(controller);
  }

  #takeTurn(controller: Dispatcher.DispatchController): void {
    this.#resume = () => {
      this.#waits = false;
      controller.resume();
    };
    this.#waits = !largeBodies.enter(this.#resume);
    if (this.#waits) hold(controller);
  }

  onResponseEnd(): void {
    this.#end();
    const [status, headers] = [this.#status, this.#headers];
    const encoding = headers["content-encoding"];
    if (encoding === undefined || this.#body.length === 0) {
      this.#resolve({ status, headers, text: this.#body.bytes.toString("utf8") });
      return;
    }
    decodeBody(this.#body.bytes, String(encoding), this.#request.maxBytes).then(
      (decoded) => this.#resolve({ status, headers, text: decoded.toString("utf8") }),
      // For an error response, the status is sufficient.
      (error: unknown) =>
        status >= 400 ? this.#resolve({ status, headers, text: "" }) : this.#reject(error),
    );
  }

  onResponseError(_controller: unknown, error: unknown): void {
    const failure = connectionError(error);
    const nothingCame =
      this.#status === 0 && failure instanceof ConnectionError && failure.code === "CONNECTION_CLOSED";
    this.#fail(
      nothingCame ? new ClosedBeforeAnswer(failure.code, failure.message, { cause: error }) : failure,
    );
  }

  #fail(error: unknown): void {
    this.#end();
    this.#reject(error);
    this.#controller?.abort(error as Error);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    if (this.#controller) release(this.#controller);
    const resume = this.#resume;
    // One turn later, so that this body is processed before the next one is read.
    if (resume && !this.#ended) setImmediate(() => largeBodies.leave(resume));
    this.#ended = true;
  }
}

/**
 * Collects a body. A body in many small chunks is copied into a growing buffer, because an object per chunk would use
 * more memory than the body.
 */
class BodyBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  /** False when the body is too large. */
  append(chunk: Buffer): boolean {
    const length = this.length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (this.length === 0) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length || this.#buffer.length < FIRST_BUFFER_BYTES) this.#grow(length);
      chunk.copy(this.#buffer, this.length);
    }
    this.length = length;
    return true;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(FIRST_BUFFER_BYTES, 2 * length));
    this.bytes.copy(grown);
    this.#buffer = grown;
  }
}

function tooLarge(): ConnectionError {
  return new ConnectionError("RESPONSE_TOO_LARGE", "the answer is larger than allowed");
}

/** Without a proxy the plain agent is used: the proxy agent parses the address of every request. */
function hasProxy(): boolean {
  return ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"].some((name) => process.env[name]);
}

function noProxy(): string {
  const given = process.env["no_proxy"] ?? process.env["NO_PROXY"] ?? "";
  return given.trim() === "*" ? "*" : `${given},localhost,127.0.0.1,[::1]`;
}
