import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type GuardOptions, jsonRejectionOf } from "../../base/door.ts";
import { errorMessage, GymError } from "../../base/errors.ts";
import { LARGE_BODY_BYTES, largeBodies } from "../../base/transport/door.ts";
import { abortController } from "../../base/transport/light-door.ts";
import { parseCookieHeader } from "../calls/cookies.ts";
import { type AppCall, Reply, splitQuery } from "../calls/server-call.ts";
import type { RequestHandler } from "./app.ts";
import { parseBody, replyText, requireReplySize } from "./body.ts";
import { SESSION_COOKIE_ATTRIBUTES } from "./session-cookie.ts";
import { SlowRequests } from "./slow-requests.ts";

/** Longer than the clients' 15 s, so that they never reuse a socket that is being closed. */
const KEEP_ALIVE_MS = 30_000;
/** Time limits for the headers and for the whole request, so that slow clients do not keep sockets open. */
const HEADERS_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 300_000;
const CHECK_INTERVAL_MS = 5_000;
const DEFAULT_BODY_LIMIT_BYTES = 128 * 1024 * 1024;
/** Requests that still run after this time are aborted. */
const SHUTDOWN_GRACE_MS = 500;
const BACKLOG = 16_384;

export interface HttpEdgeOptions {
  host: string;
  port: number;
  /** Additional host names under which the server may be called. */
  allowedHosts?: readonly string[];
  /** Null: no limit. */
  bodyLimitBytes?: number | null;
  /** How long a client may take to send its headers, and its whole request. */
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
}

/**
 * A server reachable over HTTP. Uses `node:http` directly: no router is needed, and a framework would double the start
 * time.
 */
export class HttpEdge {
  readonly #server: Server;
  readonly #slowRequests: SlowRequests;
  readonly #app: RequestHandler;
  readonly #bodyLimit: number;
  readonly #guard: GuardOptions;
  readonly #inFlight = new Set<AbortController>();

  private constructor(app: RequestHandler, options: HttpEdgeOptions) {
    const { bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES } = options;
    const { headersTimeoutMs = HEADERS_TIMEOUT_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
    this.#app = app;
    this.#guard = {
      host: options.host,
      allowedHosts: options.allowedHosts ?? [],
      allowHint: (name) => `To allow it, add ${name} to allowed_hosts in the config.`,
    };
    this.#bodyLimit = bodyLimitBytes ?? Number.POSITIVE_INFINITY;
    const timeouts = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, headersTimeout: 0 };
    this.#server = createServer(timeouts, (request, response) => this.#read(request, response));
    const limits = {
      headersMs: headersTimeoutMs,
      requestMs: requestTimeoutMs,
      intervalMs: Math.min(CHECK_INTERVAL_MS, headersTimeoutMs, requestTimeoutMs),
    };
    this.#slowRequests = new SlowRequests(this.#server, limits, (socket) =>
      rejectConnection({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, socket),
    );
    this.#server.on("clientError", rejectConnection);
  }

  /** Starts to listen. Reports a port in use with a specific error. */
  static async listen(app: RequestHandler, options: HttpEdgeOptions): Promise<HttpEdge> {
    const edge = new HttpEdge(app, options);
    const { host, port } = options;
    try {
      await once(edge.#server.listen({ host, port, backlog: BACKLOG }), "listening");
    } catch (error) {
      throw new ListenError(app.name, host, port, error);
    }
    return edge;
  }

  /** Waits briefly for running requests, then aborts them. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#slowRequests.close();
    server.closeIdleConnections();
    const deadline = setTimeout(() => {
      for (const call of this.#inFlight) call.abort(new Error(`${this.#app.name} is shutting down`));
      server.closeAllConnections();
    }, SHUTDOWN_GRACE_MS);
    try {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if (this.#inFlight.size === 0) server.closeAllConnections();
      });
    } finally {
      clearTimeout(deadline);
    }
  }

  #read(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    const rejection = jsonRejectionOf(headers, this.#guard);
    if (rejection) {
      this.#reject(response, rejection.status, rejection.reason);
      return;
    }
    const announced = headers["content-length"];
    if (announced === undefined && headers["transfer-encoding"] === undefined)
      return void this.#answer(request, response, "");
    if (announced !== undefined && Number(announced) > this.#bodyLimit) {
      this.#reject(response, 413, this.#tooLarge);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > this.#bodyLimit) {
        request.removeAllListeners("data");
        request.removeAllListeners("end");
        this.#reject(response, 413, this.#tooLarge);
      } else chunks.push(chunk);
    });
    request.on("end", () => {
      const [only] = chunks;
      const bytes = only && chunks.length === 1 ? only : Buffer.concat(chunks);
      void this.#answer(request, response, bytes.toString("utf8"));
    });
    // A client that disconnects during its request receives no response.
    request.on("error", () => response.destroy());
  }

  get #tooLarge(): string {
    const limit = `${Number((this.#bodyLimit / (1024 * 1024)).toPrecision(3))} MB`;
    return `the body is larger than ${limit}, the limit of this server (max_body_mb)`;
  }

  /** The rest of the body stays unread, so the connection is closed. */
  #reject(response: ServerResponse, status: number, detail: string): void {
    void send(response, new Reply({ status, body: { detail }, headers: { connection: "close" } }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const controller = abortController();
    const call: AppCall = {
      method: request.method ?? "GET",
      ...splitQuery(request.url ?? "/"),
      body: parseBody(text),
      cookies: parseCookieHeader(request.headers.cookie),
      headers: request.headers,
      signal: controller.signal,
    };
    this.#inFlight.add(controller);
    const onClose = () => {
      if (!response.writableEnded) controller.abort(new Error("the caller closed the connection"));
    };
    response.on("close", onClose);
    try {
      await send(response, await this.#app.handle(call), call.path);
    } catch (error) {
      // The response could not be written: it is not JSON, or the connection is closed.
      if (response.headersSent || response.destroyed) response.destroy();
      else await send(response, this.#app.unwritable(call, error));
    } finally {
      response.off("close", onClose);
      this.#inFlight.delete(controller);
    }
  }
}

/** A server could not listen on its address. */
export class ListenError extends GymError {
  readonly port: number;
  readonly host: string;
  readonly systemCode: string | undefined;

  constructor(server: string, host: string, port: number, cause: unknown) {
    const systemCode = (cause as { code?: string } | null)?.code;
    const reason = systemCode === "EADDRINUSE" ? "the port is in use" : errorMessage(cause);
    super("SERVER_LISTEN", `Server '${server}' cannot listen on ${host}:${port}: ${reason}.`, { cause });
    this.host = host;
    this.port = port;
    this.systemCode = systemCode;
  }
}

/** Answers bytes that are not an HTTP request, or that arrive too slowly, in the same form as other errors. */
function rejectConnection(error: { code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, reason, detail] = REFUSALS[error.code ?? ""] ?? [
    400,
    "Bad Request",
    "this is not an HTTP request",
  ];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const REFUSALS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the request's headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request did not arrive in time"],
};

async function send(response: ServerResponse, reply: Reply, path = ""): Promise<void> {
  const cookies: string[] = [];
  for (const name in reply.cookies)
    cookies.push(`${name}=${reply.cookies[name]}${SESSION_COOKIE_ATTRIBUTES}`);
  const headers: Record<string, string | string[]> = { ...reply.headers };
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  if (reply.stream) {
    headers["content-type"] = "text/event-stream; charset=utf-8";
    headers["cache-control"] = "no-cache";
    response.writeHead(reply.status, headers);
    for await (const frame of reply.stream) {
      if (response.destroyed) return;
      if (!response.write(frame)) await drained(response);
    }
    response.end();
    return;
  }
  // Node sends a string in one packet with the headers, and bytes in another.
  const body = replyText(reply);
  requireReplySize(body, path);
  if (body !== "") headers["content-type"] ??= "application/json";
  headers["content-length"] = String(Buffer.byteLength(body));
  response.writeHead(reply.status, headers);
  if (body.length >= LARGE_BODY_BYTES && !response.destroyed)
    response.once("close", largeBodies.replying(body.length));
  response.end(body);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
