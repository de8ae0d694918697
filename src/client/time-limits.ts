import { LONGEST_TIMER_MS } from "./longest-timer.ts";

/** `performance.now` rounded up: V8 keeps whole numbers in their objects, and makes another object for each of the others. */
export function wholeMs(): number {
  return Math.ceil(performance.now());
}

/** Something that ends when its time is over; a link of the chain of those with the same limit. */
export interface Limited {
  /** Of a clock that only goes forward (`wholeMs`). */
  dueAt: number;
  chain: LimitChain | undefined;
  before: Limited | undefined;
  after: Limited | undefined;
  timeIsUp(): void;
}

/** Those with the same limit: who began first is due first, so that one timer will do for all of them. */
export class LimitChain {
  readonly #milliseconds: number;
  #first: Limited | undefined;
  #last: Limited | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  add(limited: Limited): void {
    limited.dueAt = wholeMs() + this.#milliseconds;
    limited.chain = this;
    limited.before = this.#last;
    if (this.#last) this.#last.after = limited;
    else this.#first = limited;
    this.#last = limited;
    if (this.#timer === undefined) this.#arm(this.#milliseconds);
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
    if (this.#first) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (chains.get(this.#milliseconds) === this) chains.delete(this.#milliseconds);
  }

  #arm(milliseconds: number): void {
    this.#timer = setTimeout(this.#onTime, Math.min(Math.max(1, milliseconds), LONGEST_TIMER_MS));
  }

  readonly #onTime = (): void => {
    try {
      while (this.#first && this.#first.dueAt <= performance.now()) {
        const limited = this.#first;
        this.remove(limited);
        limited.timeIsUp();
      }
    } finally {
      // A listener that throws must not take the limits of the others with it.
      const next: Limited | undefined = this.#first;
      if (next) this.#arm(Math.ceil(next.dueAt - performance.now()));
    }
  };
}

const chains = new Map<number, LimitChain>();

/** Tells it after this long that its time is up. A timer for each would be three objects more that wait with every call. */
export function limitTime(limited: Limited, milliseconds: number): void {
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
