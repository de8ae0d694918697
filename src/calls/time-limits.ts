import { AsyncResource } from "node:async_hooks";
import { LONGEST_TIMER_MS } from "./longest-timer.ts";

/** Something that ends when its time is over; a link of the chain of those with the same limit. */
export interface Limited {
  /** Of a clock that only goes forward (`performance.now`). */
  dueAt: number;
  chain: LimitChain | undefined;
  before: Limited | undefined;
  after: Limited | undefined;
  timeIsUp(): void;
}

/** A timer serves many: it must not run on behalf of the one who happened to start it. */
const onNobodysBehalf = new AsyncResource("TimeLimits");

/** Those with the same limit: who began first is due first, so that one timer will do for all of them. */
export class LimitChain {
  readonly #milliseconds: number;
  #first: Limited | undefined;
  #last: Limited | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whose time is up when the timer fires, whatever the clock says: both may differ by a millisecond. */
  #timerOf: Limited | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  add(limited: Limited): void {
    // Whole: V8 keeps such numbers in their objects, and makes another object for each of the others.
    limited.dueAt = Math.ceil(performance.now()) + this.#milliseconds;
    limited.chain = this;
    limited.before = this.#last;
    if (this.#last) this.#last.after = limited;
    else this.#first = limited;
    this.#last = limited;
    if (this.#timer === undefined) this.#arm(limited, this.#milliseconds);
  }

  remove(limited: Limited): void {
    const { before, after } = limited;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    limited.chain = undefined;
    limited.before = undefined;
    limited.after = undefined;
    if (limited === this.#timerOf) this.#timerOf = undefined;
    if (this.#first) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (chains.get(this.#milliseconds) === this) chains.delete(this.#milliseconds);
  }

  #arm(limited: Limited, milliseconds: number): void {
    const delay = Math.min(Math.max(1, milliseconds), LONGEST_TIMER_MS);
    this.#timerOf = milliseconds > LONGEST_TIMER_MS ? undefined : limited;
    this.#timer = onNobodysBehalf.runInAsyncScope(setTimeout, undefined, this.#onTime, delay);
  }

  readonly #onTime = (): void => {
    const now = performance.now();
    try {
      for (
        let first = this.#first;
        first && (first === this.#timerOf || first.dueAt <= now);
        first = this.#first
      ) {
        this.remove(first);
        first.timeIsUp();
      }
    } finally {
      // A listener that throws must not take the limits of the others with it.
      const next = this.#first;
      if (next) this.#arm(next, Math.ceil(next.dueAt - performance.now()));
    }
  };
}

let timers: typeof setTimeout = setTimeout;
const chains = new Map<number, LimitChain>();

/** Tells it after this long that its time is up. A timer for each would be three objects more that wait with every call. */
export function limitTime(limited: Limited, milliseconds: number): void {
  // Tests put other timers in place: what waits for the former ones must not be waited for.
  if (timers !== setTimeout) {
    timers = setTimeout;
    chains.clear();
  }
  const limit = Math.max(0, milliseconds) || 0;
  let chain = chains.get(limit);
  if (!chain) {
    chain = new LimitChain(limit);
    chains.set(limit, chain);
  }
  chain.add(limited);
}

/** Whoever is done before its time is not told any more. */
export function unlimitTime(limited: Limited): void {
  limited.chain?.remove(limited);
}
