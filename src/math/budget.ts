/**
 * Bounds the work on one pair of answers. Steps are counted instead of time, so that the same pair always gets the same result.
 *
 * @module
 */

/** About a second of work on a slow machine. */
export const DEFAULT_STEPS = 200_000;

/** Longer answers are compared as text only. */
export const MAX_ANSWER_CHARS = 20_000;

/** Maximum nesting of expressions, so that recursion does not overflow the stack. */
export const MAX_DEPTH = 200;

/** Larger integers are not computed. */
export const MAX_INTEGER_BITS = 40_000;

/** The work was stopped, so the result is not known. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
}

/** Counts the steps of one comparison. */
export class Budget {
  #left: number;

  constructor(steps: number = DEFAULT_STEPS) {
    this.#left = steps;
  }

  /** Whether all steps were used. With more steps the pair might be decided. */
  get exhausted(): boolean {
    return this.#left < 0;
  }

  /** Uses `steps`. Throws if none are left. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError("The comparison takes too long.");
  }
}

/** Whether the work was stopped: too many steps, too large numbers, or too deep recursion. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof BudgetError || error instanceof RangeError;
}

/** The result of `compute`, or undefined if it throws a BudgetError. */
export function withinBudget<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof BudgetError) return undefined;
    throw error;
  }
}
