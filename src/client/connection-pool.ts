import type { Client as ClientClass, Dispatcher } from "undici";
import { Client } from "./undici-parts.ts";

export interface ConnectionPoolOptions {
  /** Beyond this, requests wait behind those of a busy connection. */
  maxConnections: number;
  keepAliveTimeout: number;
  maxResponseSize?: number;
  connectTimeoutMs?: number;
}

/**
 * Connections to one address. The one that was used last is used next: a few stay warm, and finding a free one takes no search,
 * however many thousand are busy. Answers are read from undici's dispatch, which costs half of what its `request` with a stream does.
 */
export class ConnectionPool {
  readonly #origin: string;
  readonly #options: ConnectionPoolOptions;
  readonly #all: Connection[] = [];
  readonly #idle: Connection[] = [];
  #turn = 0;

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Sends a request; the handler calls `release` once, when the answer has ended or will not come. */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: (release: () => void) => Dispatcher.DispatchHandler,
  ): void {
    const connection = this.#idle.pop() ?? this.#another();
    connection.pending++;
    const release = () => {
      if (--connection.pending === 0) this.#idle.push(connection);
    };
    connection.client.dispatch(options, handler(release));
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()));
  }

  #another(): Connection {
    const { maxConnections, keepAliveTimeout, maxResponseSize, connectTimeoutMs } = this.#options;
    if (this.#all.length >= maxConnections) {
      const busy = this.#all[this.#turn++ % this.#all.length];
      if (busy) return busy;
    }
    const client = new Client(this.#origin, {
      pipelining: 1,
      keepAliveTimeout,
      // Deadlines come with the call: it may take as long as its own limits allow.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(maxResponseSize !== undefined && { maxResponseSize }),
      ...(connectTimeoutMs !== undefined && { connect: { timeout: connectTimeoutMs } }),
    });
    const connection = { client, pending: 0 };
    this.#all.push(connection);
    return connection;
  }
}

interface Connection {
  client: ClientClass;
  /** Requests sent or waiting on it. */
  pending: number;
}
