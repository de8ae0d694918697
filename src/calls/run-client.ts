import { errorMessage, GymError } from "../errors.ts";
import { type Cookies, NO_COOKIES } from "./cookies.ts";
import { Deadline, sleep, untilAborted } from "./deadline.ts";
import { isServerCallError, ServerCallError } from "./errors.ts";
import { type Links, LONG_BODY } from "./link/links.ts";
import { nextDelay, type RetryBudget, SERVER_RETRY } from "./retry.ts";
import type { AppCall, Reply } from "./server-call.ts";
import type { CallOptions, ServerClient, ServerReply } from "./server-client.ts";
import { ServerHttp } from "./server-http.ts";

/** A server in this process. */
export interface LocalServer {
  handle(call: AppCall): Promise<Reply>;
}

/** The client of a run. Calls servers in this process directly, and the others over a link or HTTP. */
export class RunClient implements ServerClient {
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #local: ReadonlyMap<string, LocalServer>;
  readonly #links: Links | undefined;
  readonly #http = new ServerHttp();
  readonly #retry: RetryBudget;

  constructor(options: {
    /** `http://host:port` by instance name. */
    addresses: ReadonlyMap<string, string>;
    local?: ReadonlyMap<string, LocalServer>;
    /** Links to servers in other processes of the run. */
    links?: Links;
    retry?: RetryBudget;
  }) {
    this.#addresses = options.addresses;
    this.#local = options.local ?? new Map();
    this.#links = options.links;
    this.#retry = options.retry ?? SERVER_RETRY;
  }

  post(server: string, path: string, body: unknown, options: CallOptions = {}): Promise<ServerReply> {
    return this.#call("POST", server, path, body, options);
  }

  get(server: string, path: string, options: CallOptions = {}): Promise<ServerReply> {
    return this.#call("GET", server, path, undefined, { idempotent: true, ...options });
  }

  baseUrl(server: string): string {
    const address = this.#addresses.get(server);
    if (address) return address;
    const known = [...this.#addresses.keys()].sort().join(", ") || "none";
    throw new GymError("UNKNOWN_SERVER", `There is no server '${server}' in this run. Servers: ${known}.`);
  }

  async close(): Promise<void> {
    this.#links?.close();
    await this.#http.close();
  }

  async #call(
    method: "GET" | "POST",
    server: string,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<ServerReply> {
    const local = this.#local.get(server);
    const send = (signal: AbortSignal | undefined) =>
      local
        ? callLocally(local, method, path, body, { ...options, signal })
        : this.#elsewhere(method, server, path, body, { ...options, signal });
    const { timeoutMs, signal, timeoutKey } = options;
    if (timeoutMs === undefined || timeoutMs === null) return send(signal);
    const deadline = new Deadline(timeoutMs, signal);
    try {
      return await send(deadline.signal);
    } catch (error) {
      throw deadline.passed ? late(server, path, deadline, timeoutKey, error) : error;
    } finally {
      deadline.clear();
    }
  }

  /** Calls another process: over its link if it is available, else over HTTP. */
  async #elsewhere(
    method: "GET" | "POST",
    server: string,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<ServerReply> {
    const text = method === "POST" ? JSON.stringify(body ?? null) : "";
    const link = text.length > LONG_BODY ? undefined : await this.#links?.to(server);
    if (!link) return this.#overHttp(method, server, path, text, options);
    const { cookies, headers, signal } = options;
    try {
      const { text: raw, ...reply } = await link.call({
        method,
        server,
        path,
        body: text,
        cookies,
        headers,
        signal,
      });
      return new ReceivedReply({ ...reply, raw });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The other process may have handled the call, so only an idempotent one is sent again.
      if (options.idempotent) return this.#overHttp(method, server, path, text, options);
      throw connectionError(server, this.baseUrl(server), path, 1, error);
    }
  }

  async #overHttp(
    method: "GET" | "POST",
    server: string,
    path: string,
    text: string,
    options: CallOptions,
  ): Promise<ServerReply> {
    const origin = this.baseUrl(server);
    const { cookies, headers, signal } = options;
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const { text: raw, ...reply } = await this.#http.request(origin, {
          method,
          path,
          body: method === "POST" ? text : undefined,
          cookies,
          headers,
          signal,
        });
        return new ReceivedReply({ ...reply, raw });
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const unsent = neverSent(error);
        const delay =
          unsent || options.idempotent
            ? nextDelay(this.#retry, { attempt, elapsedMs: performance.now() - startedAt })
            : undefined;
        if (delay === undefined) throw connectionError(server, origin, path, attempt, error);
        await sleep(delay, signal);
      }
    }
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
const NEVER = new AbortController().signal;

/** Rejects when the signal fires, even if the handler ignores it. */
async function callLocally(
  local: LocalServer,
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<ServerReply> {
  const { cookies = NO_COOKIES, headers = NO_HEADERS, signal = NEVER, onStage } = options;
  signal.throwIfAborted();
  const answer = local.handle({ method, path, body, cookies, headers, signal, onStage });
  return new ReceivedReply(await (signal === NEVER ? answer : untilAborted(answer, signal)));
}

function late(
  server: string,
  path: string,
  deadline: Deadline,
  key: string | undefined,
  cause: unknown,
): ServerCallError {
  const limit = `${deadline.milliseconds / 1000} s${key === undefined ? "" : ` (${key})`}`;
  const message = `${server} ${path} did not answer within ${limit}`;
  return new ServerCallError(server, undefined, { class: "timeout", retryable: true, message }, { cause });
}

function connectionError(
  server: string,
  origin: string,
  path: string,
  attempt: number,
  error: unknown,
): ServerCallError {
  const tries = attempt === 1 ? "" : ` (${attempt} attempts)`;
  const message = `${server} at ${origin} did not answer ${path}${tries}: ${describe(error)}`;
  return new ServerCallError(
    server,
    undefined,
    { class: "connection", retryable: true, message },
    { cause: error },
  );
}

function describe(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  const text = errorMessage(error);
  return typeof code === "string" && !text.includes(code) ? `${text || "failed"} [${code}]` : text;
}

/** Whether the request cannot have reached a handler, so that sending it again is safe. */
function neverSent(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    code === "ECONNREFUSED" || code === "CONNECTION_TIMEOUT" || code === "EAI_AGAIN" || code === "ENOTFOUND"
  );
}

/** Whether a call failed before any byte of it reached `server`, so that it had no effect. */
export function neverReached(server: string, error: unknown): boolean {
  for (let cause = error; isServerCallError(cause) && cause.server === server; cause = cause.cause)
    if (cause.status === undefined && neverSent(cause.cause)) return true;
  return false;
}

/** The response to a call: a JSON value from a server of this process, or JSON text from elsewhere. */
export class ReceivedReply implements ServerReply {
  readonly status: number;
  readonly cookies: Cookies;
  readonly #raw: string | undefined;
  #body: unknown;
  #isParsed: boolean;

  constructor(reply: { status: number; cookies: Cookies; body?: unknown; raw?: string }) {
    this.status = reply.status;
    this.cookies = reply.cookies;
    this.#raw = reply.raw;
    this.#body = reply.body;
    this.#isParsed = reply.raw === undefined;
  }

  get ok(): boolean {
    return this.status < 400;
  }
  json(): unknown {
    if (!this.#isParsed) {
      this.#body = JSON.parse(this.#raw ?? "");
      this.#isParsed = true;
    }
    return this.#body;
  }
  text(): string {
    return this.#raw ?? JSON.stringify(this.#body ?? null);
  }
  payload(): { body: unknown } | { raw: string } {
    return this.#raw === undefined ? { body: this.#body } : { raw: this.#raw };
  }
}
