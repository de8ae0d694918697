import { connect } from "node:net";
import { type Cookies, NO_COOKIES } from "../cookies.ts";
import { FrameSocket } from "./frame-socket.ts";

/** The head of a call; its body follows as text. A head with only an id cancels the call. */
export type CallHead = readonly [
  id: number,
  server: string,
  method: string,
  path: string,
  cookies: Cookies,
  headers: Readonly<Record<string, string>>,
];

/** A response; its body follows as text. */
export type ReplyHead = readonly [
  id: number,
  status: number,
  cookies: Cookies,
  headers: Readonly<Record<string, string>>,
];

/** A longer line closes the connection. Twice the size of the largest response, because quoting may double a text. */
export const MAX_FRAME_BYTES = 512 * 1024 * 1024;
/** After a failed connection, calls to the other process use HTTP for this long. */
const RETRY_AFTER_MS = 1_000;
/** Longer bodies go over HTTP, because they would delay the calls behind them. */
export const LONG_BODY = 4 * 1024 * 1024;

export interface LinkCall {
  method: string;
  server: string;
  path: string;
  body: string;
  cookies?: Cookies;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface LinkReply {
  status: number;
  /** The body as text. */
  raw: string;
  cookies: Cookies;
  headers: Readonly<Record<string, string>>;
}

/** The other process closed the connection during a call. The call may have been handled. */
class LinkLost extends Error {
  readonly code = "ECONNRESET";

  constructor() {
    super("the process of the server has gone");
  }
}

/**
 * One connection to each other process of the run, shared by all calls. Compared to HTTP, which every server also
 * supports, it saves a system call, headers and a connection per call.
 */
export class Links {
  readonly #sockets: ReadonlyMap<string, string>;
  readonly #links = new Map<string, Link>();
  #closed = false;

  /** `sockets`: the socket of the process that hosts each server. */
  constructor(sockets: ReadonlyMap<string, string>) {
    this.#sockets = sockets;
  }

  /** The link to a server. Undefined when the server has no link or does not accept the connection. */
  async to(server: string): Promise<Link | undefined> {
    const path = this.#sockets.get(server);
    if (path === undefined || this.#closed) return undefined;
    let link = this.#links.get(path);
    if (!link || link.isOver) {
      link = new Link(path);
      this.#links.set(path, link);
    }
    if (!link.isOpen) await link.opened;
    return link.isOpen ? link : undefined;
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links.values()) link.close();
  }
}

interface Pending {
  resolve(reply: LinkReply): void;
  reject(error: unknown): void;
  stopListening(): void;
}

/** The connection to one process. */
export class Link {
  /** Settles when the connection is open or has failed. */
  readonly opened: Promise<void>;
  readonly #frames: FrameSocket;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #state: "opening" | "open" | "closed" = "opening";
  #closedAt = 0;

  constructor(socketPath: string) {
    const socket = connect(socketPath);
    // Running calls keep the process alive with their own timers and handles.
    socket.unref();
    this.#frames = new FrameSocket(socket, MAX_FRAME_BYTES, {
      received: (head, text) => this.#received(head as ReplyHead, text),
      closed: () => this.#lost(),
    });
    this.opened = new Promise((resolve) => {
      socket.once("connect", () => {
        this.#state = "open";
        resolve();
      });
      socket.once("close", () => resolve());
    });
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Whether a new connection should be tried. */
  get isOver(): boolean {
    return this.#state === "closed" && Date.now() - this.#closedAt > RETRY_AFTER_MS;
  }

  call({ method, server, path, body, cookies, headers, signal }: LinkCall): Promise<LinkReply> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#nextId++;
      const onAbort = () => {
        this.#pending.delete(id);
        this.#frames.send([id], "");
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort);
      const stopListening = () => signal?.removeEventListener("abort", onAbort);
      this.#pending.set(id, { resolve, reject, stopListening });
      const head: CallHead = [id, server, method, path, cookies ?? NO_COOKIES, headers ?? {}];
      this.#frames.send(head, body);
    });
  }

  close(): void {
    this.#frames.close();
  }

  #received([id, status, cookies, headers]: ReplyHead, raw: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    pending.stopListening();
    pending.resolve({ status, cookies, headers, raw });
  }

  #lost(): void {
    this.#state = "closed";
    this.#closedAt = Date.now();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject, stopListening } of pending) {
      stopListening();
      reject(new LinkLost());
    }
  }
}
