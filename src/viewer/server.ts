import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorMessage, GymError } from "../errors.ts";
import { type GuardOptions, refusalOf } from "../request-guard.ts";
import { answerApi } from "./api.ts";
import { FileChangedError, ViewerError, ViewerRequestError } from "./errors.ts";
import type { ViewedRun } from "./viewed-run.ts";
import type { WebFile } from "./web-files.ts";

/** Ports tried after the one asked for. */
const FURTHER_PORTS = 100;
const MAX_CONNECTIONS = 256;
const REQUEST_LIMIT_MS = 10_000;

/** Headers of every answer: nothing is loaded from elsewhere, no other site frames or reads the page. */
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

export interface ViewerOptions extends Omit<GuardOptions, "allowHint"> {
  port: number;
  webFiles: ReadonlyMap<string, WebFile>;
}

/** Serves the pages and the JSON API of a viewed run. */
export class ViewerServer {
  readonly #server: Server;
  readonly #run: ViewedRun;
  readonly #options: ViewerOptions;

  private constructor(run: ViewedRun, options: ViewerOptions) {
    this.#run = run;
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.headersTimeout = REQUEST_LIMIT_MS;
    this.#server.requestTimeout = REQUEST_LIMIT_MS;
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Listens on the port asked for or, if it is taken, on the next free one. */
  static async listen(run: ViewedRun, options: ViewerOptions): Promise<ViewerServer> {
    const viewer = new ViewerServer(run, options);
    const last = options.port === 0 ? 0 : Math.min(options.port + FURTHER_PORTS, 65_535);
    for (let port = options.port; ; port++) {
      try {
        await viewer.#listenOn(port);
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

  /** The address to open in a browser. */
  get url(): string {
    const { host } = this.#options;
    const shown = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
    return `http://${shown}:${this.port}/`;
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
      send(request, response, status, JSON.stringify({ error: errorMessage(error), code }));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const refusal = refusalOf(request.headers, { ...this.#options, allowHint });
    if (refusal !== undefined) throw new ViewerRequestError(refusal.status, refusal.reason);
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new ViewerRequestError(405, "The viewer only reads: use GET.");
    const [pathname = "/", search = ""] = (request.url ?? "/").split(/\?(.*)/s);
    const page = this.#options.webFiles.get(pathname);
    if (page) {
      send(request, response, 200, page.content, page.headers);
      return;
    }
    const site = request.headers["sec-fetch-site"];
    if (site === "cross-site" || site === "same-site")
      throw new ViewerRequestError(403, "The request comes from another site.");
    const answer = answerApi(this.#run, pathname, new URLSearchParams(search), signal);
    if (answer === undefined) throw new ViewerRequestError(404, `There is nothing at ${pathname}.`);
    send(request, response, 200, await answer);
  }
}

function allowHint(name: string): string {
  return `Use localhost, or start the viewer with --allow-host ${name}.`;
}

/** A file that changes while it is read is a conflict, not an error of the viewer. */
function statusOf(error: unknown): number {
  if (error instanceof ViewerRequestError) return error.status;
  return error instanceof FileChangedError ? 409 : 500;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  },
): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    "content-length": Buffer.byteLength(content),
  });
  response.end(request.method === "HEAD" ? undefined : content);
}
