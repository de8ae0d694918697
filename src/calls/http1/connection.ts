import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { ConnectionError } from "./connection-error.ts";
import type { Exchange, ExchangeWorker } from "./exchange.ts";
import { ResponseReader } from "./response-reader.ts";

/** A server that says how long it keeps a connection may close it a little sooner. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** A model may think for half an hour: what stands between must not take its silence for the end of the connection. */
const PROBE_AFTER_MS = 60_000;
/** Beyond this a head and its body are written one after the other: joining them would copy the body. */
const LONGEST_JOINED = 64 * 1024;
const NOT_ASCII = /[^\0-\x7f]/;

export interface ConnectionOptions {
  origin: URL;
  connectTimeoutMs: number;
  /** What the last connection to the same place left behind, so that this one need not negotiate anew. */
  tlsSession: Buffer | undefined;
  onTlsSession(session: Buffer): void;
  /** It has done its work and can do more. */
  onFree(connection: HttpConnection): void;
  onClosed(connection: HttpConnection): void;
  /** It was closed by the other side while it was idle, or as if it had been: another one may do what this one could not. */
  onStale(exchange: Exchange): void;
}

/** One connection: one exchange at a time, none of them sent twice. */
export class HttpConnection implements ExchangeWorker {
  /** When it became idle (`performance.now`), and for how long its server says to keep it then. */
  idleSince = 0;
  keepAliveMs = Number.POSITIVE_INFINITY;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #connecting: NodeJS.Timeout;
  #exchange: Exchange | undefined;
  #reader: ResponseReader | undefined;
  #error: unknown;
  #served = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const secure = options.origin.protocol === "https:";
    this.#socket = secure ? this.#openSecurely() : connect(placeOf(options.origin));
    this.#connecting = setTimeout(() => {
      const seconds = options.connectTimeoutMs / 1000;
      this.#socket.destroy(new ConnectionError("CONNECTION_TIMEOUT", `no connection within ${seconds} s`));
    }, options.connectTimeoutMs);
    this.#socket
      .once("connect", () => this.#socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS))
      .once(secure ? "secureConnect" : "connect", () => clearTimeout(this.#connecting))
      .on("data", (bytes: Buffer) => this.#received(bytes))
      .on("end", () => this.#ended())
      .on("error", (error) => {
        this.#error = error;
      })
      .on("close", () => this.#closed());
  }

  /** Sends a request; `head` ends with the blank line. */
  send(exchange: Exchange, head: string): void {
    this.#exchange = exchange;
    this.#reader = new ResponseReader(exchange.request.maxBytes);
    exchange.worker = this;
    const { body = "" } = exchange.request;
    this.#socket.ref();
    if (body.length < LONGEST_JOINED && !NOT_ASCII.test(head)) this.#socket.write(head + body);
    else {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      if (body !== "") this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** An answer that nobody wants would be taken for the next one. */
  givenUp(): void {
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #openSecurely(): Socket {
    const { origin, tlsSession, onTlsSession } = this.#options;
    const place = placeOf(origin);
    const socket = connectSecurely({
      ...place,
      ALPNProtocols: ["http/1.1"],
      // The name is part of the check of the certificate; an address has none.
      ...(isIP(place.host) === 0 && { servername: place.host }),
      ...(tlsSession && { session: tlsSession }),
    });
    return socket.on("session", onTlsSession);
  }

  #received(bytes: Buffer): void {
    const reader = this.#reader;
    // Nobody has asked: what comes now could only be taken for the answer to the next request.
    if (!reader) this.destroy();
    try {
      if (reader?.push(bytes)) this.#complete(reader);
    } catch (error) {
      this.#fail(error);
    }
  }

  #complete(reader: ResponseReader): void {
    const exchange = this.#exchange;
    const { head } = reader;
    if (!exchange || !head) return;
    const { text } = reader;
    this.#served++;
    this.#exchange = undefined;
    this.#reader = undefined;
    // An answer may come before all of the question is sent.
    if (reader.keepsAlive && this.#socket.writableLength === 0 && !this.#socket.destroyed) {
      this.idleSince = performance.now();
      this.keepAliveMs = (head.keepAliveMs ?? Number.POSITIVE_INFINITY) - KEEP_ALIVE_MARGIN_MS;
      // A connection that waits for work is no reason for the program to go on.
      this.#socket.unref();
      this.#options.onFree(this);
    } else this.destroy();
    exchange.succeed({ status: head.status, headers: head.headers, text });
  }

  #ended(): void {
    try {
      if (this.#reader?.end()) this.#complete(this.#reader);
      else this.destroy();
    } catch (error) {
      this.#fail(error);
    }
  }

  #closed(): void {
    clearTimeout(this.#connecting);
    this.#fail(this.#error ?? new ConnectionError("CONNECTION_CLOSED", "other side closed"));
    this.#options.onClosed(this);
  }

  #fail(error: unknown): void {
    const exchange = this.#exchange;
    const isStale = this.#served > 0 && this.#reader?.hasBegun === false;
    this.#exchange = undefined;
    this.#reader = undefined;
    this.destroy();
    if (!exchange || exchange.isOver) return;
    if (!isStale || exchange.wasResent || !exchange.request.resendable) exchange.fail(error);
    else this.#options.onStale(exchange);
  }
}

function placeOf({ protocol, hostname, port }: URL): { host: string; port: number } {
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
