import type { Dispatcher } from "undici";
import { ConnectionPool } from "./connection-pool.ts";
import { type Cookies, cookieHeader, parseSetCookies } from "./cookies.ts";

/** Shorter than the servers' own keep-alive, so that a reused socket is never one they are closing. */
const KEEP_ALIVE_MS = 15_000;
const CONNECTIONS_PER_ORIGIN = 16_384;
/** What one answer may weigh. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

export interface HttpRequest {
  method: "GET" | "POST";
  path: string;
  /** With its question mark. */
  query?: string;
  body?: string;
  cookies?: Cookies;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface HttpReply {
  status: number;
  text: string;
  cookies: Cookies;
}

/** Connections to each address. */
export class HttpPools {
  readonly #pools = new Map<string, ConnectionPool>();

  async request(origin: string, request: HttpRequest): Promise<HttpReply> {
    const headers: Record<string, string> = { ...request.headers };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    const cookie = request.cookies && cookieHeader(request.cookies);
    if (cookie) headers["cookie"] = cookie;
    const { method, body = null } = request;
    const { signal } = request;
    const options = { method, path: safePath(request.path) + (request.query ?? ""), headers, body };
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#pool(origin).dispatch(options, (release) => new Exchange(signal, resolve, reject, release));
    });
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(origin: string): ConnectionPool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      pool = new ConnectionPool(origin, {
        maxConnections: CONNECTIONS_PER_ORIGIN,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxResponseSize: MAX_RESPONSE_BYTES,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}

/** One request to an address that is not asked again. */
export async function requestOnce(
  url: string,
  options: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
): Promise<HttpReply> {
  const pools = new HttpPools();
  try {
    const { origin, pathname, search } = new URL(url);
    return await pools.request(origin, { method: "GET", path: pathname, query: search, ...options });
  } finally {
    await pools.close();
  }
}

/** One request and its answer. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (reply: HttpReply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #release: () => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #setCookies: string | string[] | undefined;

  constructor(
    signal: AbortSignal | undefined,
    resolve: (reply: HttpReply) => void,
    reject: (error: unknown) => void,
    release: () => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#release = release;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Whoever waits is told at once; the connection may still be opening. */
  readonly #onAbort = (): void => {
    this.#reject(this.#signal?.reason);
    this.#controller?.abort(this.#signal?.reason as Error);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It may have waited for its connection in the meantime.
    if (this.#signal?.aborted) this.#onAbort();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#setCookies = headers["set-cookie"];
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    const [only] = this.#chunks;
    const bytes = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.#resolve({
      status: this.#status,
      text: bytes.toString("utf8"),
      cookies: parseSetCookies(this.#setCookies),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish();
    this.#reject(error);
  }

  #finish(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#release();
  }
}

/** Tool names come from models: whatever a request line cannot carry is percent-encoded. */
function safePath(path: string): string {
  return /[^!-~]|[?#]/.test(path) ? path.split("/").map(encodeURIComponent).join("/") : path;
}
