import { steadyNow, Waiters } from "../../base/transport/light-door.ts";
import type { ProviderError } from "./provider-error.ts";

/** Consecutive failures after which an endpoint counts as down. */
const FAILURES_TO_OPEN = 8;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

/** Permission to make a call. The result of a probe decides for all waiting calls. */
export interface Pass {
  readonly probe: boolean;
}

/** The pass of a closed breaker. */
export const ORDINARY_PASS: Pass = { probe: false };

export interface BreakerEvents {
  opened?(failure: ProviderError, pauseMs: number): void;
  closed?(downMs: number): void;
}

export interface PassOptions {
  signal?: AbortSignal;
  giveUpAt: number;
  longestOutageMs: number;
}

/**
 * Holds back calls to an endpoint that is down. While it is open, calls wait. After each pause, which doubles, one call
 * probes the endpoint; its success releases all of them. Errors about the request or the rate do not count.
 */
export class CircuitBreaker {
  readonly #waiters = new Waiters();
  readonly #events: BreakerEvents;
  readonly #random: () => number;
  readonly #now: () => number;
  #failures = 0;
  #openings = 0;
  #downSince: number | undefined;
  #probeAt: number | undefined;
  #probing = false;
  #lastFailure: ProviderError | undefined;

  constructor(events: BreakerEvents = {}, random: () => number = Math.random, now: () => number = steadyNow) {
    this.#events = events;
    this.#random = random;
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /** Milliseconds since the first failure without a later success; 0 while the endpoint is up. */
  get downMs(): number {
    return this.isOpen && this.#downSince !== undefined ? this.#now() - this.#downSince : 0;
  }

  get lastFailure(): ProviderError | undefined {
    return this.#lastFailure;
  }

  /** When the next probe may start; 0 when the endpoint is up. */
  get probeAt(): number {
    return this.#probeAt ?? 0;
  }

  /**
   * Resolves when the call may start. Resolves with undefined at `giveUpAt`, or when the endpoint has been down for
   * longer than `longestOutageMs`: other calls have then already waited that long.
   */
  async pass(options: PassOptions): Promise<Pass | undefined> {
    while (this.#probeAt !== undefined) {
      const now = this.#now();
      if (now >= this.#probeAt && !this.#probing) {
        this.#probing = true;
        return { probe: true };
      }
      if (now >= options.giveUpAt || this.downMs > options.longestOutageMs) return undefined;
      const untilProbe = this.#probing ? Number.POSITIVE_INFINITY : this.#probeAt - now;
      await this.#waiters.wait(options.signal, Math.min(untilProbe, options.giveUpAt - now));
    }
    return ORDINARY_PASS;
  }

  succeeded(): void {
    const downMs = this.downMs;
    const wasOpen = this.isOpen;
    this.#failures = 0;
    this.#openings = 0;
    this.#downSince = undefined;
    this.#probeAt = undefined;
    this.#probing = false;
    if (!wasOpen) return;
    this.#events.closed?.(downMs);
    this.#waiters.wakeAll();
  }

  failed(pass: Pass, failure: ProviderError): void {
    this.#lastFailure = failure;
    this.#downSince ??= this.#now();
    this.#failures++;
    if (pass.probe) this.#probing = false;
    // Calls that were running when the breaker opened do not extend the pause.
    else if (this.isOpen || this.#failures < FAILURES_TO_OPEN) return;
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#openings, 30));
    const pauseMs = ceiling / 2 + (this.#random() * ceiling) / 2;
    this.#openings++;
    this.#probeAt = this.#now() + pauseMs;
    if (this.#openings === 1) this.#events.opened?.(failure, pauseMs);
    this.#waiters.wakeAll();
  }

  /** A call ended without showing whether the endpoint is up: it was cancelled, or its request was invalid. */
  ended(pass: Pass): void {
    if (!pass.probe) return;
    this.#probing = false;
    this.#waiters.wakeAll();
  }
}
