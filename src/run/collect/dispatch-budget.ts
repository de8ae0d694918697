import { quantileOfSorted } from "../../records/metrics/door.ts";

/** Rollouts that must have ended before their durations say how long one takes. */
const LEAST_DURATIONS = 5;
/** The durations are sorted again when their number has grown by this factor. */
const GROWTH = 1.02;

/**
 * The time in which rollouts may start. A rollout that would not end in time is not started: it needs the margin, or as
 * long as three quarters of the rollouts of this run needed.
 */
export class DispatchBudget {
  readonly #endsAt: number;
  readonly #marginMs: number | null;
  readonly #durations: number[] = [];
  #sortedAt = 0;
  #usualMs = 0;

  constructor(limits: { budgetMs: number; marginMs: number | null }, now: number = performance.now()) {
    this.#endsAt = now + limits.budgetMs;
    this.#marginMs = limits.marginMs;
  }

  /** A rollout has ended after this time. */
  ended(milliseconds: number): void {
    this.#durations.push(milliseconds);
  }

  /** Whether it is too late to start a rollout. */
  isOver(now: number = performance.now()): boolean {
    const left = this.#endsAt - now;
    return left <= 0 || left < (this.#marginMs ?? this.#usual());
  }

  #usual(): number {
    const { length } = this.#durations;
    if (length < LEAST_DURATIONS) return 0;
    if (length >= this.#sortedAt * GROWTH) {
      this.#sortedAt = length;
      this.#usualMs = quantileOfSorted(Float64Array.from(this.#durations).sort(), 0.75);
    }
    return this.#usualMs;
  }
}
