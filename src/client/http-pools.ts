import { Pool } from "undici";
import { type Cookies, cookieHeader, parseSetCookies } from "./cookies.ts";

/** Shorter than the servers' own keep-alive, so that a reused socket is never one they are closing. */
const KEEP_ALIVE_MS = 15_000;
const CONNECTIONS_PER_ORIGIN = 16_384;
/** What one answer may weigh. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

export interface HttpRequest {
  method: "GET" | "POST";
  path: string;
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

/** One connection pool per address. */
export class HttpPools {
  readonly #pools = new Map<string, Pool>();

  async request(origin: string, request: HttpRequest): Promise<HttpReply> {
    const headers: Record<string, string> = { ...request.headers };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    const cookie = request.cookies && cookieHeader(request.cookies);
    if (cookie) headers["cookie"] = cookie;
    const reply = await this.#pool(origin).request({
      method: request.method,
      path: safePath(request.path),
      headers,
      ...(request.body !== undefined && { body: request.body }),
      ...(request.signal && { signal: request.signal }),
    });
    return {
      status: reply.statusCode,
      text: await reply.body.text(),
      cookies: parseSetCookies(reply.headers["set-cookie"]),
    };
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      pool = new Pool(origin, {
        connections: CONNECTIONS_PER_ORIGIN,
        pipelining: 1,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // Deadlines come with the call's signal: a rollout may take as long as its own limits allow.
        headersTimeout: 0,
        bodyTimeout: 0,
        maxResponseSize: MAX_RESPONSE_BYTES,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}

/** Tool names come from models: whatever a request line cannot carry is percent-encoded. */
function safePath(path: string): string {
  return /[^!-~]|[?#]/.test(path) ? path.split("/").map(encodeURIComponent).join("/") : path;
}
