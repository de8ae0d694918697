import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { dumpsCompact } from "../python/json/json-dumps.ts";
import { loads } from "../python/json/json-loads.ts";

/** One request as an endpoint under test saw it. */
export interface EndpointRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  /** Milliseconds since the endpoint was started. */
  at: number;
}

export interface EndpointReply {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a text is sent as it is. */
  body: unknown;
}

/** What goes wrong instead of an answer. */
export type EndpointFault =
  /** Answers with an error status, in the shape providers use. */
  | { kind: "status"; status: number; message?: string; headers?: Record<string, string>; body?: unknown }
  /** 200 with a page instead of JSON. */
  | { kind: "garbage" }
  /** Reads the request and hangs up. */
  | { kind: "hang-up" }
  /** Reads the request and says nothing, for ever. */
  | { kind: "silence" }
  /** Answers, but late. */
  | { kind: "slow"; milliseconds: number };

/** The usual faults by name. */
export const faults = {
  unauthorized: (message = "Incorrect API key provided."): EndpointFault => ({
    kind: "status",
    status: 401,
    message,
  }),
  rateLimited: (retryAfterSeconds?: number): EndpointFault => ({
    kind: "status",
    status: 429,
    message: "Rate limit reached.",
    ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
  }),
  serverError: (status = 500): EndpointFault => ({
    kind: "status",
    status,
    message: "The server had an error.",
  }),
  garbage: (): EndpointFault => ({ kind: "garbage" }),
  hangUp: (): EndpointFault => ({ kind: "hang-up" }),
  silence: (): EndpointFault => ({ kind: "silence" }),
  slow: (milliseconds: number): EndpointFault => ({ kind: "slow", milliseconds }),
} as const;

export type EndpointHandler = (request: EndpointRequest) => EndpointReply | Promise<EndpointReply>;

export interface EndpointOptions {
  handler: EndpointHandler;
  /** Before every answer. */
  latencyMs?: number;
  /** Decides per request whether something goes wrong; asked after the faults given to `fail` are used up. */
  faultFor?: (request: EndpointRequest) => EndpointFault | undefined;
  /** Whether bodies are kept; off for load tests. */
  record?: boolean;
  port?: number;
}

/** Paths that are answered even while the endpoint is paused. */
const SIGNAL = /^\/(?:pause|resume)\b/;
const DEFAULT_MESSAGE = "told to fail";

/** A model endpoint on a loopback port that records requests and fails on demand. */
export class EndpointServer {
  readonly requests: EndpointRequest[] = [];
  /** Everything that reached it, recorded or not. */
  count = 0;
  /** The most requests that were under way at one time. */
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
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port: this.#options.port ?? 0, host: "127.0.0.1", backlog: 4_096 }, resolve);
    });
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

  /** The next requests fail like this, one after the other. */
  fail(...next: EndpointFault[]): void {
    this.#faults.push(...next);
  }

  /** Requests are taken but not answered until `resume`, as while weights are exchanged. */
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
        return send(response, {
          status: fault.status,
          body,
          ...(fault.headers && { headers: fault.headers }),
        });
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
