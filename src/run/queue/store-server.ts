import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { QueueError } from "./errors.ts";

/** Maximum size of a request: a batch of results, or a single longer one. */
const MAX_REQUEST_BYTES = 512 * 1024 * 1024;

const index = z.number().int().min(0);

/** Position of a rollout in the materialized inputs: task, rollout, attempt, byte offset. */
const RowAddress = z.tuple([index, index, index, index]);
export type RowAddress = z.infer<typeof RowAddress>;

const about = {
  task: index,
  rollout: index,
  attempt: index,
  at: index,
  agent: z.string(),
  worker: z.string(),
};
const failure = z.object({
  class: z.string(),
  stage: z.string(),
  retryable: z.boolean(),
  message: z.string(),
  terminal: z.boolean().optional(),
});

/** The head of a result; its row follows on the next line. */
export const ResultHead = z.discriminatedUnion("status", [
  z.object({ ...about, status: z.literal("completed") }),
  z.object({ ...about, status: z.literal("failed"), failure, persist: z.boolean() }),
]);
export type ResultHead = z.infer<typeof ResultHead>;

/** Whether a result counts. A late result is kept but not counted. */
export type ResultStatus = "counted" | "late" | "superseded";

interface StoreHandlers {
  /** The config of the run as YAML, without secrets. */
  config(): string;
  /** Rows as JSON texts; null for a rollout that is settled. */
  rows(addresses: readonly RowAddress[]): (string | null)[];
  /** Resolves when the result is in its file. */
  result(head: ResultHead, line: string): Promise<ResultStatus>;
}

/** Serves rows and receives results over HTTP, for workers that do not share a directory with the collector. */
export class StoreServer {
  readonly token = randomBytes(24).toString("hex");
  readonly #server: Server;
  readonly #handlers: StoreHandlers;
  #host = "";

  private constructor(handlers: StoreHandlers) {
    this.#handlers = handlers;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.keepAliveTimeout = 60_000;
  }

  static async listen(handlers: StoreHandlers, host: string, port = 0): Promise<StoreServer> {
    const store = new StoreServer(handlers);
    try {
      store.#server.listen(port, host);
      await once(store.#server, "listening");
    } catch (error) {
      throw new QueueError(
        "QUEUE_STORE",
        `The store of the run cannot listen on ${host}:${port}: ${errorMessage(error)}`,
        { cause: error },
      );
    }
    store.#host = host;
    return store;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!this.#isAllowed(request)) return reply(response, 401, "the token of the run is missing or wrong");
      const route = `${request.method} ${request.url}`;
      if (route === "GET /config") return reply(response, 200, this.#handlers.config());
      if (route === "POST /rows") {
        const rows = this.#handlers.rows(read(z.array(RowAddress), await body(request)));
        return reply(response, 200, rows.map((row) => row ?? "null").join("\n"));
      }
      if (route === "POST /results") return reply(response, 200, await this.#results(await body(request)));
      reply(response, 404, "no such route");
    } catch (error) {
      reply(response, error instanceof BadRequest ? 400 : 500, errorMessage(error));
    }
  }

  async #results(text: string): Promise<string> {
    const lines = text.split("\n");
    const results: { head: ResultHead; line: string }[] = [];
    for (let at = 0; at + 1 < lines.length; at += 2)
      results.push({ head: read(ResultHead, lines[at] ?? ""), line: lines[at + 1] ?? "" });
    const verdicts = results.map(({ head, line }) => this.#handlers.result(head, line));
    return JSON.stringify(await Promise.all(verdicts));
  }

  #isAllowed({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? "");
    const expected = Buffer.from(`Bearer ${this.token}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/** The request of a worker does not match this version of the store. */
class BadRequest extends Error {}

function read<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    throw new BadRequest(issue ? `${issue.path.join(".")}: ${issue.message}` : errorMessage(error));
  }
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(text);
}

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error("the request is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
