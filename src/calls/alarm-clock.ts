import { LONGEST_TIMER_MS } from "./longest-timer.ts";

/** Sleepers that are woken together: each step of the loop has a price, and what few of them do next fits into the caches. */
const WOKEN_TOGETHER = 8;
/** Such groups in one turn of the event loop at the most … */
const GROUPS_PER_TURN = 8;
/** … and milliseconds after which the others of the turn wait for the next one. */
const LONGEST_TURN_MS = 10;

/** Somebody who waits until a time. */
export interface Sleeper {
  /** Of a clock that only goes forward (`performance.now`). */
  readonly wakeAt: number;
  /** Who has left is not woken. */
  readonly hasLeft: boolean;
  wake(): void;
}

/**
 * Wakes many sleepers one after the other, and lets the event loop do other work in between. Timers of Node that are due together
 * run all in one go: thousands of rollouts that have waited for the same moment would hold up files and sockets for seconds.
 */
export class AlarmClock {
  /** A heap: the first is the next to wake. */
  readonly #sleepers: Sleeper[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** Set while a turn is under way. */
  #turn: { left: number; began: number } | undefined;

  add(sleeper: Sleeper): void {
    this.#insert(sleeper);
    if (sleeper.wakeAt < this.#timerAt) this.#arm();
  }

  /** Told by one who has left, so that nobody is waited for in vain. */
  left(sleeper: Sleeper): void {
    if (sleeper === this.#sleepers[0] && !this.#turn) this.#arm();
  }

  /** Sleepers that were not woken yet, those that left included until their time comes. */
  get size(): number {
    return this.#sleepers.length;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#dropLeavers();
    const [next] = this.#sleepers;
    this.#timerAt = next?.wakeAt ?? Number.POSITIVE_INFINITY;
    if (!next) return;
    const delay = Math.min(Math.max(0, Math.ceil(next.wakeAt - performance.now())), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => this.#beginTurn(), delay);
  }

  #beginTurn(): void {
    if (this.#turn) return;
    const left = Math.min(GROUPS_PER_TURN, Math.ceil(this.#sleepers.length / WOKEN_TOGETHER));
    if (left === 0) {
      this.#arm();
      return;
    }
    this.#turn = { left, began: performance.now() };
    // What a group does next runs between two immediates; those made meanwhile belong to the next turn.
    for (let group = 0; group < left; group++) setImmediate(this.#wakeGroup);
  }

  readonly #wakeGroup = (): void => {
    const turn = this.#turn;
    if (!turn) return;
    const now = performance.now();
    const last = --turn.left === 0;
    if (last) this.#turn = undefined;
    try {
      if (now - turn.began <= LONGEST_TURN_MS)
        for (let place = 0; place < WOKEN_TOGETHER && this.#isDue(now); place++) this.#removeFirst()?.wake();
    } finally {
      if (last) this.#goOn();
    }
  };

  #goOn(): void {
    if (this.#isDue(performance.now())) this.#beginTurn();
    else this.#arm();
  }

  #isDue(now: number): boolean {
    this.#dropLeavers();
    return (this.#sleepers[0]?.wakeAt ?? Number.POSITIVE_INFINITY) <= now;
  }

  #dropLeavers(): void {
    while (this.#sleepers[0]?.hasLeft) this.#removeFirst();
  }

  #insert(sleeper: Sleeper): void {
    const heap = this.#sleepers;
    let place = heap.push(sleeper) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (!above || above.wakeAt <= sleeper.wakeAt) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = sleeper;
  }

  #removeFirst(): Sleeper | undefined {
    const heap = this.#sleepers;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if ((heap[child + 1]?.wakeAt ?? Number.POSITIVE_INFINITY) < (heap[child]?.wakeAt ?? 0)) child++;
      const below = heap[child];
      if (!below || below.wakeAt >= last.wakeAt) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}
