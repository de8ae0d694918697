import { HttpConnection } from "./http1/connection.ts";
import { ConnectionError } from "./http1/connection-error.ts";
import { Exchange, type ExchangeRequest, type ExchangeWorker, type HttpAnswer } from "./http1/exchange.ts";
import { headerLines, requestHead } from "./http1/request-text.ts";

export interface ConnectionPoolOptions {
  /** Beyond this, requests wait until a connection is free. */
  maxConnections: number;
  /** An idle connection is closed after this time. */
  keepAliveMs: number;
  connectTimeoutMs: number;
}

/**
 * Connections to one address. The one that was used last is used next: a few stay warm, and finding a free one takes no search,
 * however many thousand are busy.
 */
export class ConnectionPool implements ExchangeWorker {
  readonly #origin: URL;
  readonly #options: ConnectionPoolOptions;
  readonly #all = new Set<HttpConnection>();
  readonly #idle: HttpConnection[] = [];
  /** Requests without a connection, and what goes before their bodies. */
  readonly #waiting = new Map<Exchange, string>();
  #tlsSession: Buffer | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  /** Most callers send the same headers every time. */
  #headers: { of: ExchangeRequest["headers"]; lines: string } | undefined;

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#origin = new URL(origin);
    this.#options = options;
  }

  /** Sends one request, once unless it may be sent again. Redirects are not followed, so that keys stay with their host. */
  request(request: ExchangeRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      request.signal?.throwIfAborted();
      const head = this.#headOf(request);
      const exchange = new Exchange(request, resolve, reject);
      const connection = this.#free();
      if (connection) connection.send(exchange, head);
      else this.#wait(exchange, head);
    });
  }

  /** Over a connection of its own: the other idle ones may be as old. */
  #resend(exchange: Exchange): void {
    exchange.wasResent = true;
    const head = this.#headOf(exchange.request);
    if (this.#all.size < this.#options.maxConnections) this.#open().send(exchange, head);
    else this.#wait(exchange, head);
  }

  #headOf({ method, path, headers, body }: ExchangeRequest): string {
    return requestHead(method, path, this.#linesOf(headers), body);
  }

  /** Closes all connections; requests under way fail. */
  destroy(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    for (const exchange of this.#waiting.keys())
      exchange.fail(new ConnectionError("CONNECTION_CLOSED", "the client was closed"));
    this.#waiting.clear();
    for (const connection of [...this.#all]) connection.destroy();
  }

  #linesOf(headers: ExchangeRequest["headers"]): string {
    if (this.#headers?.of !== headers)
      this.#headers = { of: headers, lines: headerLines(this.#origin.host, headers) };
    return this.#headers.lines;
  }

  #free(): HttpConnection | undefined {
    const now = performance.now();
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (this.#isFresh(idle, now)) return idle;
      idle.destroy();
    }
    return this.#all.size < this.#options.maxConnections ? this.#open() : undefined;
  }

  #isFresh({ idleSince, keepAliveMs }: HttpConnection, now: number): boolean {
    return now - idleSince < Math.min(keepAliveMs, this.#options.keepAliveMs);
  }

  #open(): HttpConnection {
    const connection = new HttpConnection({
      origin: this.#origin,
      connectTimeoutMs: this.#options.connectTimeoutMs,
      tlsSession: this.#tlsSession,
      onTlsSession: (session) => {
        this.#tlsSession = session;
      },
      onFree: (free) => this.#freed(free),
      onClosed: (closed) => this.#closed(closed),
      onStale: (exchange) => this.#resend(exchange),
    });
    this.#all.add(connection);
    return connection;
  }

  #wait(exchange: Exchange, head: string): void {
    this.#waiting.set(exchange, head);
    exchange.worker = this;
  }

  givenUp(exchange: Exchange): void {
    this.#waiting.delete(exchange);
  }

  #freed(connection: HttpConnection): void {
    if (this.#sendWaiting(() => connection)) return;
    this.#idle.push(connection);
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#options.keepAliveMs / 2).unref();
  }

  #closed(connection: HttpConnection): void {
    this.#all.delete(connection);
    const place = this.#idle.lastIndexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    this.#sendWaiting(() => this.#open());
  }

  /** Serves the one who has waited longest; false when nobody waits. */
  #sendWaiting(connection: () => HttpConnection): boolean {
    for (const [exchange, head] of this.#waiting) {
      this.#waiting.delete(exchange);
      connection().send(exchange, head);
      return true;
    }
    return false;
  }

  /** The oldest are at the front: those that are used again are taken from the end. */
  #sweep(): void {
    const now = performance.now();
    for (const connection of [...this.#idle]) if (!this.#isFresh(connection, now)) connection.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
