import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { dumpsCompact, loads } from "../base/python/json/door.ts";

/** A request to the endpoint. */
export interface EndpointRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  /** Milliseconds since the start of the endpoint. */
  at: number;
}

export interface EndpointReply {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON. A string is sent as it is. */
  body: unknown;
}

/** A failure in place of an answer. */
export type EndpointFault =
  /** Answers with an error status and the usual error body. */
  | { kind: "status"; status: number; message?: string; headers?: Record<string, string>; body?: unknown }
  /** Answers 200 with HTML in place of JSON. */
  | { kind: "garbage" }
  /** Reads the request and closes the connection. */
  | { kind: "hang-up" }
  /** Reads the request and never answers. */
  | { kind: "silence" }
  /** Answers late. */
  | { kind: "slow"; milliseconds: number };

/** Creates common faults. */
export const faults = {
  unauthorized: (message = "Incorrect API key provided.") => statusFault(401, message),
  rateLimited: (retryAfterSeconds?: number) => {
    const headers = { "retry-after": String(retryAfterSeconds) };
    return statusFault(429, "Rate limit reached.", retryAfterSeconds === undefined ? undefined : headers);
  },
  serverError: (status = 500) => statusFault(status, "The server had an error."),
  garbage: (): EndpointFault => ({ kind: "garbage" }),
  hangUp: (): EndpointFault => ({ kind: "hang-up" }),
  silence: (): EndpointFault => ({ kind: "silence" }),
  slow: (milliseconds: number): EndpointFault => ({ kind: "slow", milliseconds }),
} as const;

function statusFault(status: number, message: string, headers?: Record<string, string>): EndpointFault {
  return { kind: "status", status, message, headers };
}

export type EndpointHandler = (request: EndpointRequest) => EndpointReply | Promise<EndpointReply>;

export interface EndpointOptions {
  handler: EndpointHandler;
  /** Delay before every answer. */
  latencyMs?: number;
  /** The fault for a request, if any. Called after the faults of `fail` are used up. */
  faultFor?: (request: EndpointRequest) => EndpointFault | undefined;
  /** Whether requests are recorded. False for load tests. */
  record?: boolean;
  port?: number;
}

/** Paths that are answered while the endpoint is paused. */
const SIGNAL = /^\/(?:pause|resume)\b/;
const DEFAULT_MESSAGE = "told to fail";

/** A model endpoint on a loopback port that records requests and fails on demand. */
export class EndpointServer {
  readonly requests: EndpointRequest[] = [];
  /** Number of all requests, recorded or not. */
  count = 0;
  /** Maximum number of concurrent requests. */
  peak = 0;
  readonly #options: EndpointOptions;
  readonly #faults: EndpointFault[] = [];
  #running = 0;
  #server: Server | undefined;
  #startedAt = 0;
  #paused: Promise<void> | undefined;
  #resume: () => void = () => {};

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** `http://127.0.0.1:port`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server?.address() as AddressInfo | null)?.port ?? 0}`;
  }

  async start(): Promise<this> {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      void this.#serve(request, response).catch(() => response.destroy());
    });
    const { port = 0 } = this.#options;
    await once(server.listen({ port, host: "127.0.0.1", backlog: 4_096 }), "listening");
    this.#server = server;
    this.#startedAt = Date.now();
    return this;
  }

  async close(): Promise<void> {
    this.resume();
    const server = this.#server;
    if (!server) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Makes the next requests fail, one fault per request. */
  fail(...next: EndpointFault[]): void {
    this.#faults.push(...next);
  }

  /** Accepts requests but does not answer them until `resume`, as during a weight update. */
  pause(): void {
    this.#paused ??= new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume();
    this.#paused = undefined;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.count++;
    this.#running++;
    this.peak = Math.max(this.peak, this.#running);
    try {
      await this.#answer(await this.#read(request), response);
    } finally {
      this.#running--;
    }
  }

  async #read(request: IncomingMessage): Promise<EndpointRequest> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const read: EndpointRequest = {
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: request.headers,
      body: text === "" ? {} : (loads(text) as Record<string, unknown>),
      at: Date.now() - this.#startedAt,
    };
    if (this.#options.record !== false) this.requests.push(read);
    return read;
  }

  async #answer(request: EndpointRequest, response: ServerResponse): Promise<void> {
    const { handler, latencyMs = 0, faultFor } = this.#options;
    const fault = this.#faults.shift() ?? faultFor?.(request);
    if (this.#paused && !SIGNAL.test(request.path)) await this.#paused;
    if (latencyMs > 0) await sleep(latencyMs);
    switch (fault?.kind) {
      case "status": {
        const message = fault.message ?? DEFAULT_MESSAGE;
        const body = fault.body ?? { error: { message, type: "error", param: null, code: null } };
        return send(response, { status: fault.status, body, headers: fault.headers });
      }
      case "garbage":
        response.writeHead(200, { "content-type": "text/html" });
        response.end("<html><title>Gateway</title><body>not what you asked for</body></html>");
        return;
      case "hang-up":
        response.destroy();
        return;
      case "silence":
        await new Promise<void>((resolve) => response.once("close", resolve));
        return;
      case "slow":
        await sleep(fault.milliseconds);
        break;
      case undefined:
        break;
    }
    if (!response.destroyed) send(response, await handler(request));
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: EndpointReply): void {
  const text = typeof body === "string" ? body : dumpsCompact(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}
