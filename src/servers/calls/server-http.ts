import { HttpClient, type ResponseHeaders } from "../../base/transport/door.ts";
import { type Cookies, cookieHeader, parseSetCookies } from "./cookies.ts";

/** Shorter than the servers' keep-alive, so that a reused socket is never one that a server is closing. */
const KEEP_ALIVE_MS = 15_000;
const CONNECTIONS_PER_ADDRESS = 16_384;
const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum size of one response. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

export interface ServerRequest {
  method: string;
  path: string;
  /** Query string with its question mark. */
  query?: string;
  body?: string;
  cookies?: Cookies;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface ServerResponse {
  status: number;
  headers: ResponseHeaders;
  text: string;
  cookies: Cookies;
}

/** HTTP requests to gym servers, on this machine or others; never through a proxy. */
export class ServerHttp {
  readonly #client = new HttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    maxConnections: CONNECTIONS_PER_ADDRESS,
  });

  async request(origin: string, request: ServerRequest): Promise<ServerResponse> {
    const headers: Record<string, string> = { ...request.headers };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    const cookie = request.cookies && cookieHeader(request.cookies);
    if (cookie) headers["cookie"] = cookie;
    const { method, body, signal } = request;
    const path = safePath(request.path) + (request.query ?? "");
    const maxBytes = MAX_RESPONSE_BYTES;
    const answer = await this.#client.request(origin, { method, path, headers, body, signal, maxBytes });
    return { ...answer, cookies: parseSetCookies(answer.headers["set-cookie"]) };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** Sends one request over a connection that is closed afterwards. */
export async function requestOnce(
  url: string,
  options: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
): Promise<ServerResponse> {
  const http = new ServerHttp();
  try {
    const { origin, pathname, search } = new URL(url);
    return await http.request(origin, { method: "GET", path: pathname, query: search, ...options });
  } finally {
    await http.close();
  }
}

/** Tool names come from models, so characters that a request line cannot contain are percent-encoded. */
function safePath(path: string): string {
  return /[^!-~]|[?#]/.test(path) ? path.split("/").map(encodeURIComponent).join("/") : path;
}
