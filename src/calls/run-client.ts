import { errorMessage, GymError } from "../errors.ts";
import { type FailureStage, isServerCallError, ServerCallError } from "./call-errors.ts";
import type { Cookies } from "./cookies.ts";
import { Deadline } from "./deadline.ts";
import { DirectCall, type LocalServer, late } from "./direct-call.ts";
import { HttpPools, type HttpReply } from "./http-pools.ts";
import { type Links, LONG_BODY } from "./link/links.ts";
import { nextDelay, type RetryBudget, SERVER_RETRY, sleep } from "./retry.ts";
import {
  type CallOptions,
  insistOn,
  type RequiredCall,
  type ServerClient,
  type ServerReply,
} from "./server-client.ts";
import type { StopSignal } from "./stop-signal.ts";

/** The client of a run: knows where every server is, and which of them live in this process. */
export class RunClient implements ServerClient {
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #local: ReadonlyMap<string, LocalServer>;
  readonly #links: Links | undefined;
  readonly #pools: HttpPools;
  readonly #retry: RetryBudget;

  constructor(options: {
    /** `http://host:port` by instance name. */
    addresses: ReadonlyMap<string, string>;
    local?: ReadonlyMap<string, LocalServer>;
    /** To servers in other processes of the run. */
    links?: Links;
    pools?: HttpPools;
    retry?: RetryBudget;
  }) {
    this.#addresses = options.addresses;
    this.#local = options.local ?? new Map();
    this.#links = options.links;
    this.#pools = options.pools ?? new HttpPools();
    this.#retry = options.retry ?? SERVER_RETRY;
  }

  post(server: string, path: string, body: unknown, options: CallOptions = {}): Promise<ServerReply> {
    return this.#call("POST", server, path, body, options);
  }

  get(server: string, path: string, options: CallOptions = {}): Promise<ServerReply> {
    return this.#call("GET", server, path, undefined, { idempotent: true, ...options });
  }

  require(call: RequiredCall): Promise<ServerReply> {
    return this.#call("POST", call.server, call.path, call.body, call, call.stage);
  }

  baseUrl(server: string): string {
    const address = this.#addresses.get(server);
    if (address) return address;
    const known = [...this.#addresses.keys()].sort().join(", ") || "none";
    throw new GymError("UNKNOWN_SERVER", `There is no server '${server}' in this run. Servers: ${known}.`);
  }

  async close(): Promise<void> {
    this.#links?.close();
    await this.#pools.close();
  }

  #call(
    method: "GET" | "POST",
    server: string,
    path: string,
    body: unknown,
    options: CallOptions,
    stage?: FailureStage,
  ): Promise<ServerReply> {
    const local = this.#local.get(server);
    if (local) return new DirectCall(method, server, path, body, options, stage).send(local);
    const reply = this.#inTime(method, server, path, body, options);
    return stage === undefined ? reply : insistOn(reply, server, path, stage);
  }

  async #inTime(
    method: "GET" | "POST",
    server: string,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<ServerReply> {
    const { timeoutMs, signal } = options;
    if (timeoutMs === undefined || timeoutMs === null)
      return this.#elsewhere(method, server, path, body, options);
    const deadline = new Deadline(timeoutMs, signal);
    try {
      return await deadline.race(
        this.#elsewhere(method, server, path, body, { ...options, signal: deadline }),
      );
    } catch (error) {
      throw deadline.passed ? late(server, path, deadline, options.timeoutKey, error) : error;
    } finally {
      deadline.clear();
    }
  }

  /** To another process: over its link where it has one and it can be reached, over HTTP otherwise. */
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
      return new WireReply(await link.call({ method, server, path, body: text, cookies, headers, signal }));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // It may have been carried out: only a call that may be repeated is.
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
        const reply = await this.#pools.request(origin, {
          method,
          path,
          ...(method === "POST" && { body: text }),
          ...(cookies && { cookies }),
          ...(headers && { headers }),
          ...(signal && { signal }),
        });
        return new WireReply(reply);
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

/** Whether the request cannot have reached a handler: sending it again is always safe. */
function neverSent(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    code === "ECONNREFUSED" || code === "CONNECTION_TIMEOUT" || code === "EAI_AGAIN" || code === "ENOTFOUND"
  );
}

/** Whether a call failed before any byte of it reached `server`: nothing has been carried out. */
export function neverReached(server: string, error: unknown): boolean {
  for (let cause = error; isServerCallError(cause) && cause.server === server; cause = cause.cause)
    if (cause.status === undefined && neverSent(cause.cause)) return true;
  return false;
}

/** Settles like `promise`, but rejects as soon as the signal fires. */
export function untilAborted<T>(promise: Promise<T>, signal: StopSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    promise.finally(() => signal.removeEventListener("abort", onAbort)).then(resolve, reject);
  });
}

class WireReply implements ServerReply {
  readonly #reply: HttpReply;
  #json: { value: unknown } | undefined;

  constructor(reply: HttpReply) {
    this.#reply = reply;
  }

  get status(): number {
    return this.#reply.status;
  }
  get ok(): boolean {
    return this.#reply.status < 400;
  }
  get cookies(): Cookies {
    return this.#reply.cookies;
  }
  json(): unknown {
    this.#json ??= { value: JSON.parse(this.#reply.text) };
    return this.#json.value;
  }
  text(): string {
    return this.#reply.text;
  }
  payload(): { raw: string } {
    return { raw: this.#reply.text };
  }
}
