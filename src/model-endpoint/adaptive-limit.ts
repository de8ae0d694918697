import { steadyNow } from "../calls/steady-clock.ts";
import { LatencyWindow } from "./latency-window.ts";
import type { ProviderError } from "./provider-error.ts";
import { Waiters } from "./waiters.ts";

/** Sockets one address may be given; what is above waits here. */
export const MOST_CONCURRENT = 4_096;
const SMALLEST = 1;
/** Latency alone never takes the limit below this. */
const SMALLEST_BY_LATENCY = 4;
const RATE_LIMIT_FACTOR = 0.5;
const LATENCY_FACTOR = 0.8;
/** How much a limit grows while as many calls succeed as it lets through: by one, or by this part. */
const GROWTH = 0.05;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** One place among the calls that run. */
export interface Slot {
  readonly startedAt: number;
  /** Calls under way when this one started, itself included. */
  readonly among: number;
}

/** How a call went, as far as the limit is concerned. */
export type SlotResult =
  | { kind: "success"; outputTokens: number | null }
  | { kind: "rate-limited"; pauseMs: number | undefined; failure?: ProviderError }
  | { kind: "other" };

/** A limit on calls at once, as those who make calls see it. */
export interface CallLimit {
  /** Calls at once that the endpoint is thought to take. */
  readonly limit: number;
  /** What the endpoint said when it last asked to slow down. */
  readonly lastRefusal: ProviderError | undefined;
  tryEnter(): Slot | undefined;
  enter(signal: AbortSignal | undefined, giveUpAt: number, maxPauseMs?: number): Promise<Slot | undefined>;
  leave(slot: Slot, result: SlotResult): void;
}

/**
 * How many calls may run at once against one (endpoint, model, key). It starts open, halves when the endpoint asks to
 * slow down, gives way when answers become slow without becoming more, and grows back while calls succeed. After a
 * refusal nobody starts before the pause the endpoint asked for; while refusals are all that comes, one call at a time
 * asks whether it is over.
 */
export class AdaptiveLimit implements CallLimit {
  readonly #waiters = new Waiters();
  readonly #latency = new LatencyWindow();
  readonly #random: () => number;
  readonly #now: () => number;
  #limit = MOST_CONCURRENT;
  #running = 0;
  /** Places that calls of other processes may take without asking. */
  #reserved = 0;
  #waitingElsewhere = 0;
  readonly #listeners = new Set<() => void>();
  #decreasedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;
  #refusalsInARow = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastRefusal: ProviderError | undefined;

  constructor(random: () => number = Math.random, now: () => number = steadyNow) {
    this.#random = random;
    this.#now = now;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }
  get lastRefusal(): ProviderError | undefined {
    return this.#lastRefusal;
  }
  get running(): number {
    return this.#running;
  }
  get waiting(): number {
    return this.#waiters.size;
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }
  /** Whether the endpoint has refused everything of late, so that one call at a time asks. */
  get isProbing(): boolean {
    return this.#refusalsInARow > 0;
  }
  /** Calls that may run now, those that run included. */
  get allowed(): number {
    if (this.#now() < this.#pausedUntil) return 0;
    return this.#refusalsInARow > 0 ? 1 : Math.max(SMALLEST, Math.floor(this.#limit));
  }

  /** Tells whenever places may have become more or fewer, before those who wait here are served. */
  subscribe(listener: () => void): void {
    this.#listeners.add(listener);
  }
  unsubscribe(listener: () => void): void {
    this.#listeners.delete(listener);
  }
  /** Calls that another process has started; each ends with `leave`. */
  occupy(count: number): void {
    this.#running += count;
  }
  /** How many places other processes may take without asking, and how many of their calls wait. */
  reserve(places: number, waiting: number): void {
    this.#reserved = places;
    this.#waitingElsewhere = waiting;
    this.#fill();
  }

  /** A place at once, if there is one and nobody waits. */
  tryEnter(): Slot | undefined {
    if (this.#waiters.size > 0 || !this.#hasRoom()) return undefined;
    this.#running++;
    return { startedAt: this.#now(), among: this.#running };
  }

  /**
   * Waits for a place; those who came first are served first. Undefined when `giveUpAt` came first, or when the endpoint wants to be
   * left alone for longer than `maxPauseMs`.
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
      for (const listener of this.#listeners) queueMicrotask(listener);
      // The place is taken before the waiter is woken, so nobody slips in between.
      if (await this.#waiters.wait(signal, giveUpAt - now)) {
        return { startedAt: this.#now(), among: this.#running };
      }
    }
  }

  leave({ startedAt, among }: Slot, result: SlotResult): void {
    // What a call had to share the endpoint with: the first of many is not alone for long.
    const slot = { startedAt, among: Math.max(among, this.#running) };
    this.#running--;
    switch (result.kind) {
      case "success":
        this.#succeeded(slot, result.outputTokens);
        break;
      case "rate-limited":
        this.#lastRefusal = result.failure ?? this.#lastRefusal;
        this.#refused(slot, result.pauseMs);
        break;
      case "other":
        break;
    }
    this.#changed();
  }

  #succeeded(slot: Slot, outputTokens: number | null): void {
    this.#refusalsInARow = 0;
    const now = this.#now();
    const slow = this.#latency.add(slot, now, outputTokens);
    if (slow !== undefined && this.#isNews(slot)) {
      const reached = Math.min(this.#limit, slow.concurrency);
      const lower = Math.max(SMALLEST_BY_LATENCY, reached * LATENCY_FACTOR);
      if (lower < this.#limit) {
        this.#limit = lower;
        this.#decreasedAt = now;
        return;
      }
    }
    // Only a limit that is felt says something about what the endpoint can take.
    if (slot.among < this.#limit * 0.9 && this.#waiters.size + this.#waitingElsewhere === 0) return;
    const step = Math.max(1, this.#limit * GROWTH) / Math.max(1, this.#limit);
    this.#limit = Math.min(MOST_CONCURRENT, this.#limit + step);
  }

  #refused(slot: Slot, asked: number | undefined): void {
    const now = this.#now();
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#refusalsInARow, 30));
    const pause = (asked ?? 0) + ceiling / 2 + (this.#random() * ceiling) / 2;
    if (this.#isNews(slot)) {
      this.#refusalsInARow++;
      // A single call that is refused says that it is too early, not that there were too many.
      if (slot.among > 1)
        this.#limit = Math.max(SMALLEST, Math.min(this.#limit, slot.among) * RATE_LIMIT_FACTOR);
      this.#decreasedAt = now;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + pause);
    } else if (asked !== undefined) this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
    // Some who wait may not want to wait that long.
    if (asked !== undefined && asked > LONGEST_PAUSE_MS) this.#waiters.wakeAll(false);
    this.#wakeLater();
  }

  /** Calls that were already on their way when the limit went down do not lower it again. */
  #isNews(slot: Slot): boolean {
    return slot.startedAt > this.#decreasedAt;
  }

  #hasRoom(): boolean {
    return this.#running + this.#reserved < this.allowed;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
    this.#fill();
  }

  #fill(): void {
    while (this.#waiters.size > 0 && this.#hasRoom()) {
      this.#running++;
      this.#waiters.wakeFirst();
    }
  }

  /** One timer for all who wait for the end of the pause. */
  #wakeLater(): void {
    const delay = this.#pausedUntil - this.#now();
    if (delay <= 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        // First, whether it came too early: if the pause ended between a look at the places and this one, nobody would be woken.
        this.#wakeLater();
        this.#changed();
      },
      Math.min(Math.ceil(delay), LONGEST_PAUSE_MS),
    );
  }
}
