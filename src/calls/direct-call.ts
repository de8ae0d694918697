import { type FailureStage, failureOf, inStage, ServerCallError } from "./call-errors.ts";
import { type Cookies, NO_COOKIES } from "./cookies.ts";
import { Deadline } from "./deadline.ts";
import type { CallOptions, ServerReply } from "./server-client.ts";
import { abortSignalOf, type StopSignal } from "./stop-signal.ts";

/** The part of a co-hosted server the client needs. */
export interface LocalServer {
  serve(call: DirectCall, receiver: LocalReceiver): void;
}

interface LocalReceiver {
  answered(reply: LocalReply): void;
  failed(error: unknown): void;
}

/** A server that is nothing but a function. */
export function serverOf(handle: (call: DirectCall) => Promise<LocalReply>): LocalServer {
  return {
    serve(call, receiver) {
      void handle(call).then(
        (reply) => receiver.answered(reply),
        (error: unknown) => receiver.failed(error),
      );
    },
  };
}

export interface LocalReply {
  status: number;
  body?: unknown;
  raw?: string;
  stream?: AsyncIterable<string>;
  cookies: Cookies;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
const NEVER: StopSignal = new AbortController().signal;

/**
 * A call within this process, until it is answered or given up. Thousands of them wait for models at a time, and whatever they hold
 * is moved by the garbage collector: it is itself what hears that it is over, and the answer is looked at in one place.
 */
export class DirectCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly cookies: Cookies;
  readonly headers: Readonly<Record<string, string>>;
  readonly onStage: CallOptions["onStage"];
  readonly stop: StopSignal;
  readonly #server: string;
  /** Of a call that has to succeed. */
  readonly #stage: FailureStage | undefined;
  readonly #timeoutKey: string | undefined;
  #resolve: ((reply: ServerReply) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(
    method: string,
    server: string,
    path: string,
    body: unknown,
    options: CallOptions,
    stage: FailureStage | undefined,
  ) {
    const { signal, timeoutMs } = options;
    this.method = method;
    this.path = path;
    this.body = body;
    this.cookies = options.cookies ?? NO_COOKIES;
    this.headers = options.headers ?? NO_HEADERS;
    this.onStage = options.onStage;
    this.stop =
      timeoutMs === undefined || timeoutMs === null ? (signal ?? NEVER) : new Deadline(timeoutMs, signal);
    this.#server = server;
    this.#stage = stage;
    this.#timeoutKey = options.timeoutKey;
  }

  /** Made when the handler asks for it. */
  get signal(): AbortSignal {
    return abortSignalOf(this.stop);
  }

  send(local: LocalServer): Promise<ServerReply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.stop.aborted) {
        this.failed(this.stop.reason);
        return;
      }
      // A handler that ignores its signal must not hold its caller.
      if (this.stop !== NEVER) this.stop.addEventListener("abort", this);
      try {
        local.serve(this, this);
      } catch (error) {
        this.failed(error);
      }
    });
  }

  /** It is given up, or its time is over. */
  handleEvent(): void {
    this.failed(this.stop.reason);
  }

  answered(reply: LocalReply): void {
    this.#end();
    try {
      const answer = new DirectReply(reply);
      if (this.#stage !== undefined && !answer.ok)
        throw failureOf(this.#server, this.path, this.#stage, answer);
      this.#resolve?.(answer);
    } catch (error) {
      // Also an answer that cannot be read: its body may be no JSON.
      this.#reject?.(error);
    }
  }

  /** There will be no answer. */
  failed(error: unknown): void {
    this.#end();
    const { stop } = this;
    const told =
      stop instanceof Deadline && stop.passed
        ? late(this.#server, this.path, stop, this.#timeoutKey, error)
        : error;
    this.#reject?.(this.#stage === undefined ? told : inStage(this.#stage, told));
  }

  #end(): void {
    const { stop } = this;
    if (stop === NEVER) return;
    stop.removeEventListener("abort", this);
    if (stop instanceof Deadline) stop.clear();
  }
}

export function late(
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

class DirectReply implements ServerReply {
  readonly status: number;
  #reply: LocalReply | undefined;

  constructor(reply: LocalReply) {
    this.status = reply.status;
    this.#reply = reply;
  }

  get ok(): boolean {
    return this.status < 400;
  }
  get cookies(): Cookies {
    return this.#reply?.cookies ?? NO_COOKIES;
  }
  json(): unknown {
    return this.#reply?.raw === undefined ? this.#reply?.body : JSON.parse(this.#reply.raw);
  }
  text(): string {
    return this.#reply?.raw ?? JSON.stringify(this.#reply?.body ?? null);
  }
  payload(): { body: unknown } | { raw: string } {
    return this.#reply?.raw === undefined ? { body: this.#reply?.body } : { raw: this.#reply.raw };
  }
  release(): void {
    this.#reply = undefined;
  }
}
