/**
 * Bounds the work on one pair of answers. Steps are counted instead of time, so that the same pair always gets the same result. Work
 * on large numbers and expressions costs more steps.
 *
 * @module
 */

/** About half a second of work. */
export const DEFAULT_STEPS = 200_000;

/** Longer answers are compared as text only. */
export const MAX_ANSWER_CHARS = 20_000;

/** Maximum nesting of expressions, so that recursion does not overflow the stack. */
export const MAX_DEPTH = 200;

/** Larger integers are not computed. */
export const MAX_INTEGER_BITS = 40_000;

/** Steps between two looks at the clock. */
const CLOCK_STEPS = 200;

/** The work was stopped, so the result is not known. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
}

export interface BudgetLimits {
  readonly steps?: number;
  /** Milliseconds. Without them only steps count. */
  readonly timeoutMs?: number;
}

/** Counts the steps of one comparison. */
export class Budget {
  #left: number;
  #untilClock = CLOCK_STEPS;
  readonly #deadline: number;
  readonly #outer: Budget | undefined;

  constructor({ steps = DEFAULT_STEPS, timeoutMs }: BudgetLimits = {}, outer?: Budget) {
    this.#left = steps;
    this.#deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
    this.#outer = outer;
  }

  /** Whether all steps were used. With more steps the pair might be decided. */
  get exhausted(): boolean {
    return this.#left < 0;
  }

  spend(steps: number): void {
    this.#outer?.spend(steps);
    this.#left -= steps;
    this.#untilClock -= steps;
    if (this.#untilClock < 0) {
      this.#untilClock = CLOCK_STEPS;
      if (performance.now() > this.#deadline) this.#left = -1;
    }
    if (this.#left < 0) throw new BudgetError("The comparison takes too long.");
  }
}

/** The budget of the work that is being done. Comparisons are synchronous, so there is one at a time. */
let current: Budget | undefined;

/** Does `work` with the steps of `budget`. */
export function withBudget<T>(budget: Budget, work: () => T): T {
  const outer = current;
  current = budget;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** Does `work` with some of the steps that are left. Undefined if they do not suffice. */
export function withinSteps<T>(steps: number, work: () => T): T | undefined {
  return withinBudget(() => withBudget(new Budget({ steps }, current), work));
}

/** Uses steps of the current budget. Throws a BudgetError if none are left. */
export function spend(steps = 1): void {
  current?.spend(steps);
}

/** Whether all steps of the current budget were used. */
export function isExhausted(): boolean {
  return current?.exhausted ?? false;
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
