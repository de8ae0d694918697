import { steadyNow } from "../../calls/steady-clock.ts";
import {
  type Breaker,
  type BreakerEvents,
  CircuitBreaker,
  ORDINARY_PASS,
  type Pass,
  type PassOptions,
} from "../circuit-breaker.ts";
import type { ProviderError } from "../provider-error.ts";
import { Waiters } from "../waiters.ts";
import { type BreakerState, fromSharedFailure, type MemberMessage, toSharedFailure } from "./messages.ts";

/** A run's breaker, seen from one of its processes. Successes are reported only while failures are known. */
export class SharedBreaker implements Breaker {
  readonly #key: string;
  readonly #send: (message: MemberMessage) => void;
  readonly #events: BreakerEvents;
  readonly #waiters = new Waiters();
  #alone: CircuitBreaker | undefined;
  #isOpen = false;
  #probeAt = 0;
  #downSince: number | null = null;
  #lastFailure: ProviderError | undefined;
  #asked = false;
  /** Probes given to this process that nobody has taken yet. */
  #probes = 0;

  constructor(key: string, send: (message: MemberMessage) => void, events: BreakerEvents) {
    this.#key = key;
    this.#send = send;
    this.#events = events;
    send({ type: "join-breaker", key });
  }

  get isOpen(): boolean {
    return this.#alone?.isOpen ?? this.#isOpen;
  }
  get downMs(): number {
    if (this.#alone) return this.#alone.downMs;
    return this.#isOpen && this.#downSince !== null ? steadyNow() - this.#downSince : 0;
  }
  get lastFailure(): ProviderError | undefined {
    return this.#alone?.lastFailure ?? this.#lastFailure;
  }
  get probeAt(): number {
    return this.#alone?.probeAt ?? this.#probeAt;
  }

  async pass(options: PassOptions): Promise<Pass | undefined> {
    while (this.#isOpen && !this.#alone) {
      if (this.#probes > 0) {
        this.#probes--;
        return { probe: true };
      }
      const now = steadyNow();
      if (now >= options.giveUpAt || this.downMs > options.longestOutageMs) return undefined;
      if (!this.#asked) {
        this.#asked = true;
        this.#send({ type: "breaker-wait", key: this.#key });
      }
      await this.#waiters.wait(options.signal, options.giveUpAt - now);
    }
    return this.#alone ? this.#alone.pass(options) : ORDINARY_PASS;
  }

  succeeded(): void {
    if (this.#alone) {
      this.#alone.succeeded();
      return;
    }
    if (this.#downSince === null) return;
    this.#downSince = null;
    this.#send({ type: "breaker-succeeded", key: this.#key });
  }

  failed({ probe }: Pass, failure: ProviderError): void {
    if (this.#alone) {
      this.#alone.failed({ probe }, failure);
      return;
    }
    this.#downSince ??= steadyNow();
    this.#lastFailure = failure;
    this.#send({ type: "breaker-failed", key: this.#key, probe, failure: toSharedFailure(failure) });
  }

  ended(pass: Pass): void {
    if (this.#alone) {
      this.#alone.ended(pass);
      return;
    }
    if (pass.probe) this.#send({ type: "breaker-ended", key: this.#key });
  }

  /** What the coordinator says. */
  update(state: BreakerState): void {
    const { downMs } = this;
    this.#isOpen = state.isOpen;
    this.#probeAt = state.probeAt;
    this.#downSince = state.downSince;
    if (!state.isOpen) {
      this.#asked = false;
      this.#probes = 0;
    }
    if (state.failure) this.#lastFailure = fromSharedFailure(state.failure);
    if (state.news === "opened" && this.#lastFailure) this.#events.opened?.(this.#lastFailure, 0);
    if (state.news === "closed") this.#events.closed?.(downMs);
    this.#waiters.wakeAll(false);
  }

  /** The coordinator lets one call of this process try. */
  probe(): void {
    this.#asked = false;
    if (this.#waiters.size === 0) this.#send({ type: "breaker-ended", key: this.#key });
    else {
      this.#probes++;
      this.#waiters.wakeFirst();
    }
  }

  /** The coordinator is gone: what is known to be down is found out again. */
  standAlone(): void {
    if (this.#alone) return;
    this.#alone = new CircuitBreaker(this.#events);
    this.#waiters.wakeAll(false);
  }
}
