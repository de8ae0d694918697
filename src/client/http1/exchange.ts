import { LONGEST_TIMER_MS } from "../longest-timer.ts";
import type { StopSignal } from "../stop-signal.ts";
import type { ResponseHeaders } from "./response-head.ts";

export interface ExchangeRequest {
  method: "GET" | "POST";
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: StopSignal | undefined;
  /** From the start to the last byte received; null: as long as the signal allows. */
  timeoutMs?: number | null;
  /** What is thrown when that time is over. */
  late?: (milliseconds: number) => Error;
  /** What the body of the answer may weigh. */
  maxBytes: number;
}

export interface HttpAnswer {
  status: number;
  headers: ResponseHeaders;
  text: string;
}

/** One request, from the moment it is made until its answer is there or will not come. */
export class Exchange {
  readonly request: ExchangeRequest;
  /** Ends what works on it, when it is given up. */
  whenGivenUp: (() => void) | undefined;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    request: ExchangeRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal, timeoutMs, late } = request;
    signal?.addEventListener("abort", this.#onAbort);
    if (timeoutMs === null || timeoutMs === undefined) return;
    const error = () => late?.(timeoutMs) ?? new Error(`no answer within ${timeoutMs} ms`);
    this.#timer = setTimeout(() => this.#giveUp(error()), Math.min(timeoutMs, LONGEST_TIMER_MS));
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

  readonly #onAbort = (): void => this.#giveUp(this.request.signal?.reason);

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#reject(reason);
    this.whenGivenUp?.();
  }

  /** True for the first who ends it. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.request.signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }
}
