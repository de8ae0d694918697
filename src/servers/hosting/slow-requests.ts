import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface SlowRequestLimits {
  /** How long a client may take to send the headers of a request. */
  headersMs: number;
  /** How long it may take to send the whole request. */
  requestMs: number;
  intervalMs: number;
}

interface Connection {
  /** The request whose headers have arrived, until it is answered. */
  request: IncomingMessage | undefined;
  /** Checks of the connection since the request began. */
  checks: number;
  /** Bytes read when the last request was answered; while the number is unchanged, no request has begun. */
  idleAt: number | undefined;
}

/**
 * Finds clients that send their requests too slowly. Time is counted in checks of the connections, because all received
 * data is read between two checks. Node's limits count seconds, so a server that is busy for a minute would reject
 * requests that have been waiting for it.
 */
export class SlowRequests {
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, limits: SlowRequestLimits, onSlow: (socket: Socket) => void) {
    server.on("connection", (socket: Socket) => {
      this.#connections.set(socket, { request: undefined, checks: 0, idleAt: undefined });
      socket.on("close", () => this.#connections.delete(socket));
    });
    server.on("request", (request, response) => this.#begin(request, response));
    const checksIn = (limit: number) => Math.ceil(limit / limits.intervalMs);
    const [headers, whole] = [checksIn(limits.headersMs), checksIn(limits.requestMs)];
    this.#timer = setInterval(() => this.#check(headers, whole, onSlow), limits.intervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (!connection) return;
    connection.request = request;
    response.on("close", () => {
      connection.request = undefined;
      connection.checks = 0;
      connection.idleAt = socket.bytesRead;
    });
  }

  #check(headers: number, whole: number, onSlow: (socket: Socket) => void): void {
    for (const [socket, connection] of this.#connections) {
      const { request, idleAt } = connection;
      if (request?.complete || (request === undefined && idleAt === socket.bytesRead)) continue;
      connection.checks++;
      if (connection.checks <= (request ? whole : Math.min(headers, whole))) continue;
      this.#connections.delete(socket);
      onSlow(socket);
    }
  }
}
