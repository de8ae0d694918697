import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type GuardOptions, jsonRejectionOf, requestRejection } from "../base/door.ts";
import { errorMessage, GymError } from "../base/errors.ts";
import { AccessToken } from "./access-token.ts";
import { type ApiContext, answerRead, answerWrite, type Content, checkParameters, runOf } from "./api.ts";
import { FileChangedError, ViewerError, ViewerRequestError } from "./errors.ts";
import { sendEvents } from "./events.ts";
import { answerLabels } from "./label/answer-labels.ts";
import type { LabelSession } from "./label/label-session.ts";

/** Number of further ports to try. */
const FURTHER_PORTS = 100;
const MAX_CONNECTIONS = 256;
const REQUEST_LIMIT_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024;
/** Shorter answers are not compressed. */
const LEAST_COMPRESSED = 2048;

const compressed = promisify(gzip);

/** Headers of every answer: nothing is loaded from other origins, and other sites cannot frame or read the page. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export interface ViewerOptions extends Omit<GuardOptions, "allowHint">, ApiContext {
  port: number;
  /** Undefined: everyone who can reach the port may read. */
  token: string | undefined;
  /** Serves only the queue of rollouts to label: every other page would show how they were judged. */
  labels?: LabelSession;
}

/** Serves the pages and the JSON API of a workspace. */
export class ViewerServer {
  readonly #server: Server;
  readonly #options: ViewerOptions;
  #token: AccessToken | undefined;

  private constructor(options: ViewerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.headersTimeout = REQUEST_LIMIT_MS;
    this.#server.requestTimeout = REQUEST_LIMIT_MS;
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Listens on the requested port or, if it is in use, on the next free one. */
  static async listen(options: ViewerOptions): Promise<ViewerServer> {
    const viewer = new ViewerServer(options);
    const last = options.port === 0 ? 0 : Math.min(options.port + FURTHER_PORTS, 65_535);
    for (let port = options.port; ; port++) {
      try {
        await viewer.#listenOn(port);
        if (options.token !== undefined) viewer.#token = new AccessToken(options.token, viewer.port);
        return viewer;
      } catch (error) {
        const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
        if (taken && port < last) continue;
        const reason = taken ? `ports ${options.port} to ${last} are all taken` : errorMessage(error);
        const message = `The viewer cannot listen on ${options.host}:${port}: ${reason}.`;
        throw new ViewerError("VIEWER_LISTEN", message, { cause: error });
      }
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address to open in a browser, with the token. */
  get url(): string {
    return this.#urlWith(this.#options.token);
  }

  /** The address with a token that is valid for one request. */
  oneTimeUrl(): string {
    return this.#urlWith(this.#token?.oneTime());
  }

  #urlWith(token: string | undefined): string {
    const { host } = this.#options;
    const shown = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
    return `http://${shown}:${this.port}/${token === undefined ? "" : `?token=${token}`}`;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #listenOn(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = this.#server;
      server.once("error", reject);
      server.listen({ port, host: this.#options.host, exclusive: true }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      await this.#answer(request, response, gone.signal);
    } catch (error) {
      if (gone.signal.aborted || response.headersSent) {
        response.destroy();
        return;
      }
      const status = statusOf(error);
      const code = error instanceof GymError ? error.code : undefined;
      const content = JSON.stringify({ error: errorMessage(error), code });
      await send(request, response, status, { content });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const guard = { ...this.#options, allowHint };
    const isPost = request.method === "POST";
    const rejection = isPost
      ? jsonRejectionOf(request.headers, guard)
      : requestRejection(request.headers, guard);
    if (rejection !== undefined) throw new ViewerRequestError(rejection.status, rejection.reason);
    if (!isPost && request.method !== "GET" && request.method !== "HEAD")
      throw new ViewerRequestError(405, "Use GET, or POST to annotate and control.");
    const [pathname = "/", search = ""] = (request.url ?? "/").split(/\?(.*)/s);
    const parameters = new URLSearchParams(search);
    const page = isPost ? undefined : this.#options.webFiles.get(pathname);
    const access = this.#token?.check(request, parameters);
    parameters.delete("token");
    if (page) {
      const cookie = access === "by-address" ? { "set-cookie": this.#token?.cookie ?? "" } : {};
      const isZipped = acceptsGzip(request);
      response.writeHead(200, {
        ...SECURITY_HEADERS,
        ...page.headers,
        ...cookie,
        ...(isZipped && { "content-encoding": "gzip" }),
        vary: "accept-encoding",
        "content-length": (isZipped ? page.gzip : page.content).length,
      });
      response.end(request.method === "HEAD" ? undefined : isZipped ? page.gzip : page.content);
      return;
    }
    const site = request.headers["sec-fetch-site"];
    if (site === "cross-site" || site === "same-site")
      throw new ViewerRequestError(403, "The request comes from another site.");
    if (access === "rejected")
      throw new ViewerRequestError(
        401,
        "This viewer requires its token. Open the address that it printed, with ?token=…",
      );
    const { labels } = this.#options;
    if (labels) {
      const body = isPost ? await readBody(request) : undefined;
      await send(request, response, 200, {
        content: JSON.stringify(await answerLabels(labels, pathname, parameters, body)),
      });
      return;
    }
    if (pathname.startsWith("/api/")) checkParameters(pathname, parameters);
    if (isPost) {
      const answer = await answerWrite(this.#options, pathname, parameters, await readBody(request));
      if (answer === undefined) throw new ViewerRequestError(405, `Nothing can be changed at ${pathname}.`);
      await send(request, response, 200, { content: answer });
      return;
    }
    if (pathname === "/api/events") {
      sendEvents(await runOf(this.#options, parameters), response, SECURITY_HEADERS, signal);
      return;
    }
    const answer = answerRead(this.#options, pathname, parameters, signal);
    if (answer === undefined) throw new ViewerRequestError(404, `There is nothing at ${pathname}.`);
    const given = await answer;
    await send(request, response, 200, typeof given === "string" ? { content: given } : given);
  }
}

function allowHint(name: string): string {
  return `Use localhost, or start the viewer with --allow-host ${name}.`;
}

/** The JSON body of a request. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\b/.test(type))
    throw new ViewerRequestError(415, `The content type is '${type.slice(0, 100)}'. Send application/json.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new ViewerRequestError(413, "The body is longer than 64 kB.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw new ViewerRequestError(400, "The body is not JSON.");
  }
}

/** A file that changes while it is read is a conflict, not an error of the viewer. */
function statusOf(error: unknown): number {
  if (error instanceof ViewerRequestError) return error.status;
  if (error instanceof URIError) return 400;
  return error instanceof FileChangedError ? 409 : 500;
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { content, headers = JSON_HEADERS }: Partial<Content> & Pick<Content, "content">,
): Promise<void> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  // A client that does not accept compression, such as a local program, gets none.
  const isZipped = bytes.length >= LEAST_COMPRESSED && acceptsGzip(request);
  const sent = isZipped ? await compressed(bytes, { level: 1 }) : bytes;
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    ...(isZipped && { "content-encoding": "gzip" }),
    vary: "accept-encoding",
    "content-length": sent.length,
  });
  response.end(request.method === "HEAD" ? undefined : sent);
}

function acceptsGzip(request: IncomingMessage): boolean {
  return /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
}
