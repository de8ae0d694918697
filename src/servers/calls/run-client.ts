import { errorMessage, GymError } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";
import { currentSpan, ending, type Span } from "../../base/telemetry/light-door.ts";
import {
  Deadline,
  nextDelay,
  type RetryBudget,
  SERVER_RETRY,
  sleep,
  untilAborted,
} from "../../base/transport/light-door.ts";
import { type Cookies, NO_COOKIES } from "./cookies.ts";
import { isServerCallError, ServerCallError } from "./errors.ts";
import { type Links, LONG_BODY } from "./link/links.ts";
import type { AppCall, Reply } from "./server-call.ts";
import type { CallOptions, ServerClient, ServerReply } from "./server-client.ts";
import { ServerHttp } from "./server-http.ts";

/** A server in this process. */
export interface LocalServer {
  handle(call: AppCall): Promise<Reply>;
}

interface OutgoingCall extends CallOptions {
  method: "GET" | "POST";
  server: string;
  path: string;
  body: unknown;
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
    return this.#call({ ...options, method: "POST", server, path, body });
  }

  get(server: string, path: string, options: CallOptions = {}): Promise<ServerReply> {
    return this.#call({ idempotent: true, ...options, method: "GET", server, path, body: undefined });
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

  async #call(call: OutgoingCall): Promise<ServerReply> {
    const local = this.#local.get(call.server);
    const send = (signal: AbortSignal | undefined) =>
      local ? callLocally(local, call, signal) : this.#traced(currentSpan(), call, signal);
    const { timeoutMs, signal } = call;
    if (timeoutMs === undefined || timeoutMs === null) return send(signal);
    const deadline = new Deadline(timeoutMs, signal);
    try {
      return await send(deadline.signal);
    } catch (error) {
      throw deadline.passed ? late(call, timeoutMs, error) : error;
    } finally {
      deadline.clear();
    }
  }

  /** Lets the other process continue the trace of the running code, if there is one. */
  #traced(
    parent: Span | undefined,
    call: OutgoingCall,
    signal: AbortSignal | undefined,
  ): Promise<ServerReply> {
    if (parent === undefined) return this.#elsewhere(call, signal);
    const { method, server } = call;
    const span = parent.child("http_client", `HTTP ${method}`, {
      kind: "client",
      attributes: {
        "http.request.method": method,
        "url.path": call.path,
        "nemo.gym.http.destination.server.name": server,
      },
    });
    return ending(span, async () => {
      const headers = { ...call.headers, ...span.headers };
      const reply = await this.#elsewhere({ ...call, headers }, signal);
      span.set({ "http.response.status_code": reply.status });
      if (!reply.ok) span.fail(String(reply.status));
      return reply;
    });
  }

  /** Calls another process: over its link if it is available, else over HTTP. */
  async #elsewhere(call: OutgoingCall, signal: AbortSignal | undefined): Promise<ServerReply> {
    const { method, server, path, cookies, headers } = call;
    const body = method === "POST" ? JSON.stringify(call.body ?? null) : "";
    const link = body.length > LONG_BODY ? undefined : await this.#links?.to(server);
    if (!link) return this.#overHttp(call, body, signal);
    try {
      return new ReceivedReply(await link.call({ method, server, path, body, cookies, headers, signal }));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The other process may have handled the call, so only an idempotent one is sent again.
      if (call.idempotent) return this.#overHttp(call, body, signal);
      throw connectionError(call, this.baseUrl(server), 1, error);
    }
  }

  async #overHttp(call: OutgoingCall, text: string, signal: AbortSignal | undefined): Promise<ServerReply> {
    const origin = this.baseUrl(call.server);
    const { method, path, cookies, headers } = call;
    const body = method === "POST" ? text : undefined;
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        const request = { method, path, body, cookies, headers, signal };
        const { status, text: raw, cookies: set } = await this.#http.request(origin, request);
        return new ReceivedReply({ status, cookies: set, raw });
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const delay =
          neverSent(error) || call.idempotent
            ? nextDelay(this.#retry, { attempt, elapsedMs: performance.now() - startedAt })
            : undefined;
        if (delay === undefined) throw connectionError(call, origin, attempt, error);
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
  call: OutgoingCall,
  signal: AbortSignal = NEVER,
): Promise<ServerReply> {
  const { method, path, body, cookies = NO_COOKIES, headers = NO_HEADERS, onStage } = call;
  signal.throwIfAborted();
  const answer = local.handle({ method, path, body, cookies, headers, signal, onStage });
  return new ReceivedReply(await (signal === NEVER ? answer : untilAborted(answer, signal)));
}

function late({ server, path, timeoutKey }: OutgoingCall, limitMs: number, cause: unknown): ServerCallError {
  const limit = `${limitMs / 1000} s${timeoutKey === undefined ? "" : ` (${timeoutKey})`}`;
  const message = `${server} ${path} did not answer within ${limit}`;
  return new ServerCallError(server, undefined, failure("timeout", message), { cause });
}

function connectionError(
  { server, path }: OutgoingCall,
  origin: string,
  attempt: number,
  cause: unknown,
): ServerCallError {
  const tries = attempt === 1 ? "" : ` (${attempt} attempts)`;
  const message = `${server} at ${origin} did not answer ${path}${tries}: ${describe(cause)}`;
  return new ServerCallError(server, undefined, failure("connection", message), { cause });
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
