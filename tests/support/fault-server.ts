import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  method: string;
  /** Path with its query. */
  url: string;
  headers: IncomingMessage["headers"];
}

/** A fault for the next `times` matching requests. */
export interface Fault {
  /** Matched against `METHOD /path?query`. */
  match: RegExp;
  times?: number;
  /** Response to send instead of handling the request. */
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Cut the connection after this many bytes of the body. */
  breakAfterBytes?: number;
  /** Change one byte of the body. */
  corrupt?: boolean;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void;

/** Thrown by a handler to respond with an error status. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    super(`rejected with ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** An HTTP server on a free loopback port that records requests and fails on demand. */
export class FaultServer {
  readonly requests: RecordedRequest[] = [];
  private readonly faults: (Fault & { times: number })[] = [];
  private readonly handler: Handler;
  private server: Server | undefined;
  private port = 0;

  constructor(handler: Handler) {
    this.handler = handler;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    return this;
  }

  async close(): Promise<void> {
    const server = this.server;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Adds a fault; faults apply in the order of their addition. */
  fail(fault: Fault): void {
    this.faults.push({ times: 1, ...fault });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const method = request.method ?? "GET";
    this.requests.push({ method, url: request.url ?? "/", headers: request.headers });
    const fault = this.faults.find(
      (known) => known.times > 0 && known.match.test(`${method} ${request.url}`),
    );
    if (fault !== undefined) fault.times--;
    try {
      if (fault?.status !== undefined) {
        await drain(request);
        sendJson(response, fault.status, fault.body ?? { error: "told to fail" }, fault.headers);
        return;
      }
      if (fault !== undefined) damage(response, fault);
      await this.handler(request, response, url);
    } catch (error) {
      if (error instanceof Refusal) sendJson(response, error.status, error.body, error.headers);
      else if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Makes `sendBytes` on this response stop early or change a byte. */
function damage(response: ServerResponse, fault: Fault): void {
  damages.set(response, fault);
}

const damages = new WeakMap<ServerResponse, Fault>();

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
  response.end(text);
}

/** Sends a body, or the requested range of it. */
export function sendBytes(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  headers: Record<string, string>,
): void {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const start = range === null ? 0 : Number(range[1]);
  const end = range?.[2] ? Math.min(Number(range[2]) + 1, content.length) : content.length;
  if (range !== null && start >= content.length) {
    response.writeHead(416, { ...headers, "content-range": `bytes */${content.length}` });
    response.end();
    return;
  }
  const damaged = damages.get(response);
  const body = Buffer.from(content.subarray(start, end));
  if (damaged?.corrupt && body.length > 0) body[0] = (body[0] ?? 0) ^ 0xff;
  response.writeHead(range === null ? 200 : 206, {
    "accept-ranges": "bytes",
    "content-length": String(body.length),
    ...(range !== null && { "content-range": `bytes ${start}-${end - 1}/${content.length}` }),
    ...headers,
  });
  if (request.method === "HEAD") response.end();
  else if (damaged?.breakAfterBytes === undefined) response.end(body);
  else {
    response.write(body.subarray(0, damaged.breakAfterBytes), () =>
      setTimeout(() => response.destroy(), 150),
    );
  }
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return JSON.parse((await readBody(request)).toString("utf8")) as Record<string, unknown>;
}

async function drain(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}
