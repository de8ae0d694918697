/**
 * Bounds the work on one pair of answers. Steps are counted instead of time, so the same pair always ends the same way; the numbers
 * that can grow (integers, nested expressions, polynomials) are bounded where they are made.
 *
 * @module
 */

/** About a second of work on a slow machine. */
export const DEFAULT_STEPS = 200_000;

/** An answer longer than this is compared as text only. */
export const MAX_ANSWER_CHARS = 20_000;

/** How deep expressions may nest; keeps recursion far from the end of the stack. */
export const MAX_DEPTH = 200;

/** Integers with more bits than this are not computed. */
export const MAX_INTEGER_BITS = 40_000;

/** The work was given up: nothing is known about the answer. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
}

/** Counts the steps of one comparison. */
export class Budget {
  #left: number;

  constructor(steps: number = DEFAULT_STEPS) {
    this.#left = steps;
  }

  /** Whether the work was given up for want of steps: with more of them it might be decided. */
  get exhausted(): boolean {
    return this.#left < 0;
  }

  /** Uses up `steps`; throws when none are left. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError("The comparison takes too long.");
  }
}
