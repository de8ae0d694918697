import type { ResponseHeaders } from "./response-head.ts";

export interface ExchangeRequest {
  method: "GET" | "POST";
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** From the start to the last byte received; null: as long as the signal allows. */
  timeoutMs?: number | null;
  /** What is thrown when that time is over. */
  late?: (milliseconds: number) => Error;
  /** What the body of the answer may weigh. */
  maxBytes: number;
  /** Whether it is sent again, once, when a connection that was used before is found closed before a byte of an answer. */
  resendable?: boolean;
}

export interface HttpAnswer {
  status: number;
  headers: ResponseHeaders;
  text: string;
}

/** Who works on an exchange. */
export interface ExchangeWorker {
  /** Nobody waits for the answer any more. */
  givenUp(exchange: Exchange): void;
}

/**
 * One request, from the moment it is made until its answer is there or will not come. It hears itself that it is given up or that its
 * time is over: thousands wait at a time, and a timer and functions for each would be moved by the garbage collector with them.
 */
export class Exchange {
  readonly request: ExchangeRequest;
  worker: ExchangeWorker | undefined;
  wasResent = false;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #isOver = false;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(
    request: ExchangeRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal, timeoutMs } = request;
    signal?.addEventListener("abort", this);
    if (timeoutMs !== null && timeoutMs !== undefined)
      this.#timer = setTimeout(() => this.#timeIsUp(), timeoutMs);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  succeed(answer: HttpAnswer): void {
    if (this.#end()) this.#resolve(answer);
  }

  fail(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  /** Its signal has fired. */
  handleEvent(): void {
    this.#giveUp(this.request.signal?.reason);
  }

  #timeIsUp(): void {
    const { timeoutMs, late } = this.request;
    this.#giveUp(late?.(timeoutMs ?? 0) ?? new Error(`no answer within ${timeoutMs} ms`));
  }

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.worker?.givenUp(this);
  }

  /** True for the first who ends it. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.request.signal?.removeEventListener("abort", this);
    return true;
  }
}
