import { ConnectionPool } from "./connection-pool.ts";
import { type Cookies, cookieHeader, parseSetCookies } from "./cookies.ts";

/** Shorter than the servers' own keep-alive, so that a reused socket is never one they are closing. */
const KEEP_ALIVE_MS = 15_000;
const CONNECTIONS_PER_ORIGIN = 16_384;
const CONNECT_TIMEOUT_MS = 10_000;
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
    const { method, body, signal } = request;
    const path = safePath(request.path) + (request.query ?? "");
    const maxBytes = MAX_RESPONSE_BYTES;
    const answer = await this.#pool(origin).request({ method, path, headers, body, signal, maxBytes });
    const { status, text } = answer;
    return { status, text, cookies: parseSetCookies(answer.headers["set-cookie"]) };
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    for (const pool of pools) pool.destroy();
  }

  #pool(origin: string): ConnectionPool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      pool = new ConnectionPool(origin, {
        maxConnections: CONNECTIONS_PER_ORIGIN,
        keepAliveMs: KEEP_ALIVE_MS,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
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

/** Tool names come from models: whatever a request line cannot carry is percent-encoded. */
function safePath(path: string): string {
  return /[^!-~]|[?#]/.test(path) ? path.split("/").map(encodeURIComponent).join("/") : path;
}
