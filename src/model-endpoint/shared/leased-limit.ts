import { steadyNow } from "../../calls/steady-clock.ts";
import { AdaptiveLimit, type CallLimit, type Slot, type SlotResult } from "../adaptive-limit.ts";
import type { ProviderError } from "../provider-error.ts";
import { Waiters } from "../waiters.ts";
import {
  type Allowance,
  fromSharedFailure,
  type LimitReport,
  type MemberMessage,
  toSharedFailure,
} from "./messages.ts";

/** How long results may wait for company while nobody waits for places. */
const REPORT_EVERY_MS = 50;
/** Without an answer for so long the coordinator is taken to be gone. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * The part of a run's limit that this process has. Calls within it cost no message; results are reported together. When the
 * coordinator is gone the process goes on with a limit of its own.
 */
export class LeasedLimit implements CallLimit {
  readonly #key: string;
  readonly #send: (message: MemberMessage) => void;
  readonly #giveUp: () => void;
  readonly #waiters = new Waiters();
  #alone: AdaptiveLimit | undefined;
  #running = 0;
  #places = 0;
  #limit = 0;
  #pausedUntil = 0;
  #prompt = false;
  #seen = 0;
  #lastRefusal: ProviderError | undefined;
  #report: LimitReport;
  #reportTimer: NodeJS.Timeout | undefined;
  #answerTimer: NodeJS.Timeout | undefined;
  readonly joined: Promise<void>;
  #onJoined: () => void = () => {};

  /** `giveUp` ends the connection: then all that this process shares stands alone. */
  constructor(key: string, send: (message: MemberMessage) => void, giveUp: () => void) {
    this.#key = key;
    this.#send = send;
    this.#giveUp = giveUp;
    this.#report = this.#emptyReport();
    this.joined = new Promise((resolve) => {
      this.#onJoined = resolve;
    });
    send({ type: "join-limit", key });
    this.#expectAnswer();
  }

  get limit(): number {
    return this.#alone?.limit ?? this.#limit;
  }
  get lastRefusal(): ProviderError | undefined {
    return this.#alone?.lastRefusal ?? this.#lastRefusal;
  }
  get running(): number {
    return this.#alone?.running ?? this.#running;
  }

  tryEnter(): Slot | undefined {
    if (this.#alone) return this.#alone.tryEnter();
    if (this.#waiters.size > 0 || this.#running >= this.#places) return undefined;
    return this.#take();
  }

  async enter(
    signal: AbortSignal | undefined,
    giveUpAt: number,
    maxPauseMs = Number.POSITIVE_INFINITY,
  ): Promise<Slot | undefined> {
    const free = this.tryEnter();
    if (free) return free;
    while (!this.#alone) {
      const now = steadyNow();
      if (now >= giveUpAt || this.#pausedUntil - now > maxPauseMs) return undefined;
      const turn = this.#waiters.wait(signal, giveUpAt - now);
      this.#ask();
      try {
        // The place is taken before the waiter is woken, so nobody slips in between.
        if (await turn) return { startedAt: steadyNow(), among: this.#running };
      } finally {
        if (this.#prompt) this.#flushSoon(0);
      }
    }
    return this.#alone.enter(signal, giveUpAt, maxPauseMs);
  }

  leave(slot: Slot, result: SlotResult): void {
    if (this.#alone) {
      this.#alone.leave(slot, result);
      return;
    }
    this.#running--;
    const { startedAt } = slot;
    if (result.kind === "success") this.#report.succeeded.push([startedAt, result.outputTokens]);
    else if (result.kind === "other") this.#report.others++;
    else {
      const { pauseMs, failure } = result;
      if (failure) this.#lastRefusal = failure;
      this.#report.refused.push({
        startedAt,
        ...(pauseMs !== undefined && { pauseMs }),
        ...(failure && { failure: toSharedFailure(failure) }),
      });
      // Nobody starts before the coordinator has said how it goes on.
      this.#places = 0;
      this.#report.ask = true;
      this.#expectAnswer();
      this.#flushSoon(0);
      return;
    }
    this.#fill();
    this.#flushSoon(this.#prompt ? 0 : REPORT_EVERY_MS);
  }

  /** What the coordinator says. */
  allow(allowance: Allowance): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = undefined;
    const { pausedUntil } = allowance;
    const isLater = pausedUntil > this.#pausedUntil;
    const isNew = allowance.serial !== this.#seen;
    this.#seen = allowance.serial;
    this.#places = allowance.places;
    this.#limit = allowance.limit;
    this.#prompt = allowance.prompt;
    this.#pausedUntil = pausedUntil;
    if (allowance.refusal) this.#lastRefusal = fromSharedFailure(allowance.refusal);
    // Some who wait may not want to wait that long.
    if (isLater) this.#waiters.wakeAll(false);
    this.#fill();
    // Fewer places are given to others once this process is known to have heard of it.
    if (isNew) this.#flushSoon(this.#prompt ? 0 : REPORT_EVERY_MS);
    this.#onJoined();
  }

  /** The coordinator is gone. */
  standAlone(): void {
    if (this.#alone) return;
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#reportTimer);
    this.#alone = new AdaptiveLimit();
    this.#alone.occupy(this.#running);
    this.#waiters.wakeAll(false);
    this.#onJoined();
  }

  #take(): Slot {
    this.#running++;
    this.#report.started++;
    this.#flushSoon(this.#prompt ? 0 : REPORT_EVERY_MS);
    return { startedAt: steadyNow(), among: this.#running };
  }

  #fill(): void {
    while (this.#waiters.size > 0 && this.#running < this.#places) {
      this.#take();
      this.#waiters.wakeFirst();
    }
  }

  #ask(): void {
    if (this.#report.ask) return;
    this.#report.ask = true;
    this.#expectAnswer();
    this.#flushSoon(0);
  }

  #expectAnswer(): void {
    this.#answerTimer ??= setTimeout(this.#giveUp, ANSWER_WITHIN_MS).unref();
  }

  #flushSoon(delayMs: number): void {
    if (this.#alone) return;
    if (delayMs === 0) {
      clearTimeout(this.#reportTimer);
      this.#reportTimer = undefined;
      if (this.#flushing) return;
      this.#flushing = true;
      setImmediate(this.#flush);
    } else if (!this.#flushing) this.#reportTimer ??= setTimeout(this.#flush, delayMs).unref();
  }

  #flushing = false;
  readonly #flush = (): void => {
    this.#flushing = false;
    this.#reportTimer = undefined;
    if (this.#alone) return;
    const report = this.#report;
    this.#report = this.#emptyReport();
    report.seen = this.#seen;
    report.running = this.#running;
    report.waiting = this.#waiters.size;
    this.#send(report);
  };

  #emptyReport(): LimitReport {
    return {
      type: "limit",
      key: this.#key,
      seen: 0,
      started: 0,
      running: 0,
      waiting: 0,
      ask: false,
      succeeded: [],
      refused: [],
      others: 0,
    };
  }
}
