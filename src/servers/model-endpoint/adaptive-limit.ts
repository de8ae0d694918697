import { steadyNow, Waiters } from "../../base/transport/light-door.ts";
import type { ProviderError } from "./provider-error.ts";

/** Maximum concurrent calls to one endpoint with one model and key. Further calls wait. */
export const MOST_CONCURRENT = 4_096;
const SMALLEST = 1;
/** Latency alone never lowers the limit below this. */
const SMALLEST_BY_LATENCY = 4;
/** Rejections lower the limit by their share, within these bounds: growing back from below 1 takes a few round trips without rejections. */
const LARGEST_REJECTION_FACTOR = 0.8;
const SMALLEST_REJECTION_FACTOR = 0.5;
const LATENCY_FACTOR = 0.8;
/** A limit grows by one, or by this part, while as many calls succeed as it allows. */
const GROWTH = 0.05;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** The slot of one running call. */
export interface Slot {
  readonly startedAt: number;
  /** Running calls when this one started, including itself. */
  readonly among: number;
}

/** What rejected calls ask of all callers of the endpoint: to wait, and to make fewer calls. */
export interface SlowDown {
  pauseMs: number;
  /** Factor for the limit. */
  factor: number;
}

/** The result of a call, as far as the limit is concerned. */
export type SlotResult =
  | { kind: "success"; outputTokens: number | null }
  | { kind: "rate-limited"; pauseMs: number | undefined; failure?: ProviderError }
  | { kind: "other" };

/**
 * Limits the concurrent calls to one endpoint with one model and key. The limit starts at its maximum. It decreases
 * when the endpoint rejects more than a few calls (429, 503, 529) or when responses become slower without higher
 * throughput. It grows while calls succeed.
 *
 * A few scattered rejections do not change the limit: only the rejected calls are retried later. Once too many calls are
 * rejected, no call starts before a pause has ended; until a call succeeds, one call at a time is sent.
 */
export class AdaptiveLimit {
  readonly #waiters = new Waiters();
  readonly #latency = new LatencyWindow();
  readonly #rejections = new RejectionShare();
  readonly #most: number;
  readonly #random: () => number;
  readonly #now: () => number;
  #limit: number;
  #running = 0;
  #decreasedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;
  #rejectionsInARow = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Called when rejections in this process lower the limit, but not for `slowDown`. */
  onSlowDown: ((slowDown: SlowDown) => void) | undefined;
  #lastRejection: ProviderError | undefined;

  constructor(most = MOST_CONCURRENT, random: () => number = Math.random, now: () => number = steadyNow) {
    this.#most = most;
    this.#limit = most;
    this.#random = random;
    this.#now = now;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }
  /** Whether rejections or slow responses have lowered the limit. */
  get isLowered(): boolean {
    return this.#limit < this.#most;
  }
  /** The last response that asked to slow down. */
  get lastRejection(): ProviderError | undefined {
    return this.#lastRejection;
  }
  get running(): number {
    return this.#running;
  }

  /** Takes a slot if one is free and no caller waits. */
  tryEnter(): Slot | undefined {
    if (this.#waiters.size > 0 || !this.#hasRoom()) return undefined;
    this.#running++;
    return { startedAt: this.#now(), among: this.#running };
  }

  /**
   * Waits for a slot in FIFO order. Resolves with undefined at `giveUpAt`, or when the endpoint asks for a pause longer
   * than `maxPauseMs`.
   */
  async enter(
    signal: AbortSignal | undefined,
    giveUpAt: number,
    maxPauseMs = Number.POSITIVE_INFINITY,
  ): Promise<Slot | undefined> {
    const free = this.tryEnter();
    if (free) return free;
    for (;;) {
      const now = this.#now();
      if (now >= giveUpAt || this.#pausedUntil - now > maxPauseMs) return undefined;
      this.#wakeLater();
      // `#fill` reserves the slot before it wakes the waiter, so no other call can take it in between.
      if (await this.#waiters.wait(signal, giveUpAt - now))
        return { startedAt: this.#now(), among: this.#running };
    }
  }

  /** Ends a call that has a slot. */
  leave({ startedAt, among }: Slot, result: SlotResult): void {
    // The first of many calls shares the endpoint with those that started after it.
    const slot = { startedAt, among: Math.max(among, this.#running) };
    this.#running--;
    if (result.kind === "success") this.#succeeded(slot, result.outputTokens);
    else if (result.kind === "rate-limited") {
      this.#lastRejection = result.failure ?? this.#lastRejection;
      this.#rejected(slot, result.pauseMs);
    }
    this.#fill();
  }

  #succeeded(slot: Slot, outputTokens: number | null): void {
    this.#rejectionsInARow = 0;
    this.#rejections.add(false, slot.among);
    const now = this.#now();
    const slow = this.#latency.add(slot, now, outputTokens);
    if (slow !== undefined && this.#startedAfterDecrease(slot)) {
      const reached = Math.min(this.#limit, slow.concurrency);
      const lower = Math.max(SMALLEST_BY_LATENCY, reached * LATENCY_FACTOR);
      if (lower < this.#limit) {
        this.#limit = lower;
        this.#decreasedAt = now;
        return;
      }
    }
    // A limit that is not reached has not been tested.
    if (slot.among < this.#limit * 0.9 && this.#waiters.size === 0) return;
    const step = Math.max(1, this.#limit * GROWTH) / Math.max(1, this.#limit);
    this.#limit = Math.min(this.#most, this.#limit + step);
  }

  #rejected(slot: Slot, asked: number | undefined): void {
    const share = this.#rejections.add(true, slot.among);
    if (this.#rejections.isScattered) return;
    const now = this.#now();
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#rejectionsInARow, 30));
    const pause = (asked ?? 0) + ceiling / 2 + (this.#random() * ceiling) / 2;
    // At most one decrease per round trip: calls that started before the last one were sent at the old limit.
    if (this.#startedAfterDecrease(slot)) {
      this.#rejectionsInARow++;
      // A rejected call that ran alone was too early; it does not show that too many calls ran concurrently.
      const isAlone = slot.among <= 1;
      const factor = isAlone
        ? 1
        : Math.max(SMALLEST_REJECTION_FACTOR, Math.min(LARGEST_REJECTION_FACTOR, 1 - share));
      if (!isAlone) this.#limit = Math.max(SMALLEST, Math.min(this.#limit, slot.among) * factor);
      this.onSlowDown?.({ pauseMs: pause, factor });
      this.#decreasedAt = now;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + pause);
    } else if (asked !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
    // Waiters whose time limit is shorter than the pause stop waiting now.
    if (asked !== undefined && asked > LONGEST_PAUSE_MS) this.#waiters.wakeAll(false);
    this.#wakeLater();
  }

  /**
   * Applies the slow-down that another process received from the same endpoint. Several concurrent rejections count as
   * one.
   */
  slowDown({ pauseMs, factor }: SlowDown): void {
    const now = this.#now();
    if (now >= this.#pausedUntil) {
      const used = this.#running > 0 ? Math.min(this.#limit, this.#running) : this.#limit;
      this.#limit = Math.max(SMALLEST, used * factor);
      this.#rejectionsInARow = Math.max(1, this.#rejectionsInARow);
      this.#decreasedAt = now;
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    if (pauseMs > LONGEST_PAUSE_MS) this.#waiters.wakeAll(false);
    this.#wakeLater();
  }

  #startedAfterDecrease(slot: Slot): boolean {
    return slot.startedAt > this.#decreasedAt;
  }

  #hasRoom(): boolean {
    if (this.#now() < this.#pausedUntil) return false;
    return this.#running < (this.#rejectionsInARow > 0 ? 1 : Math.max(SMALLEST, Math.floor(this.#limit)));
  }

  #fill(): void {
    while (this.#waiters.size > 0 && this.#hasRoom()) {
      this.#running++;
      this.#waiters.wakeFirst();
    }
  }

  /** One timer for all calls that wait for the end of the pause. */
  #wakeLater(): void {
    const delay = this.#pausedUntil - this.#now();
    if (delay <= 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        // Before `#fill`: if the timer fired too early and the pause ends between the two calls, nothing else would wake the waiters.
        this.#wakeLater();
        this.#fill();
      },
      Math.min(Math.ceil(delay), LONGEST_PAUSE_MS),
    );
  }
}

/** Up to this share of rejected calls an endpoint is not overloaded: gateways reject single calls for many reasons. */
const TOLERATED_SHARE = 0.1;
const FEWEST_CALLS = 64;

/**
 * The share of recent calls that an endpoint rejected. Counts are halved when they reach about two round trips, so that older calls
 * weigh less and less.
 */
class RejectionShare {
  #rejected = 0;
  #calls = 0;

  /** Counts a call that ended while `running` calls ran. Returns the share. */
  add(rejected: boolean, running: number): number {
    if (this.#calls >= Math.max(FEWEST_CALLS, 2 * running)) {
      this.#calls /= 2;
      this.#rejected /= 2;
    }
    this.#calls++;
    if (rejected) this.#rejected++;
    return this.#rejected / this.#calls;
  }

  /** Whether too few calls are rejected to change the limit. */
  get isScattered(): boolean {
    return this.#rejected <= TOLERATED_SHARE * this.#calls;
  }
}

/** Number of responses that are evaluated together. */
const SMALLEST_WINDOW = 32;
const LARGEST_WINDOW = 512;
/** A window is slow when its median exceeds the best one by this factor … */
const TOLERANCE = 3;
/** … and its throughput is below this part of the best: large batches are slow per call but efficient. */
const WORTH_IT = 0.8;
/** Windows with a lower average latency are never slow. */
const QUICK_MS = 1_000;
/** The best values decay by this much per window, because models and prompts change. */
const FORGET = 0.02;

interface CallTimes {
  startedAt: number;
  among: number;
}

/**
 * Detects that responses have become much slower and fewer, which means too many concurrent calls. Latency is measured
 * per generated token if the number of tokens is known.
 */
class LatencyWindow {
  #costs: number[] = [];
  #most = 0;
  #openedAt: number | undefined;
  #tokens = 0;
  #totalMs = 0;
  #bestCost = Number.POSITIVE_INFINITY;
  #bestThroughput = 0;

  /** Adds a call. Returns the concurrency of the window if this call completes a slow one. */
  add(call: CallTimes, endedAt: number, outputTokens: number | null): { concurrency: number } | undefined {
    this.#openedAt ??= call.startedAt;
    this.#totalMs += endedAt - call.startedAt;
    this.#costs.push((endedAt - call.startedAt) / Math.max(1, outputTokens ?? 1));
    this.#tokens += Math.max(1, outputTokens ?? 1);
    this.#most = Math.max(this.#most, call.among);
    const size = Math.min(LARGEST_WINDOW, Math.max(SMALLEST_WINDOW, this.#most));
    if (this.#costs.length < size) return undefined;
    return this.#close(endedAt);
  }

  #close(endedAt: number): { concurrency: number } | undefined {
    const sorted = this.#costs.sort((left, right) => left - right);
    const cost = sorted[sorted.length >> 1] ?? 0;
    const throughput = this.#tokens / Math.max(1, endedAt - (this.#openedAt ?? endedAt));
    const slow =
      this.#totalMs > QUICK_MS * sorted.length &&
      cost > TOLERANCE * this.#bestCost &&
      throughput < WORTH_IT * this.#bestThroughput;
    const concurrency = this.#most;
    this.#bestCost = Math.min(cost, this.#bestCost * (1 + FORGET));
    this.#bestThroughput = Math.max(throughput, this.#bestThroughput * (1 - FORGET));
    this.#costs = [];
    this.#tokens = 0;
    this.#totalMs = 0;
    this.#most = 0;
    this.#openedAt = endedAt;
    return slow ? { concurrency } : undefined;
  }
}
