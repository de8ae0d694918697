/** What an optimization may use. */
export interface Limits {
  rollouts: number;
  tokens: number;
  dollars: number;
}

/** What it has used. */
export interface BudgetUsage {
  rollouts: number;
  tokens: number;
  spent: number;
}

/** Adds up what steps use, and keeps back what the test needs. */
export class OptimizeBudget {
  readonly limits: Limits;
  /** Rollouts of the test. */
  readonly reserve: number;
  readonly used: BudgetUsage = { rollouts: 0, tokens: 0, spent: 0 };

  constructor(limits: Limits, reserve: number) {
    this.limits = limits;
    this.reserve = reserve;
  }

  /** Adds what a step used. */
  add(step: Partial<BudgetUsage>): void {
    for (const member of ["rollouts", "tokens", "spent"] as const) this.used[member] += step[member] ?? 0;
  }

  /** Whether this many further rollouts fit. Their tokens and dollars are estimated by the mean so far. */
  affords(rollouts: number, reserve = this.reserve): boolean {
    const more = rollouts + reserve;
    const { rollouts: done, tokens, spent } = this.used;
    const each = done === 0 ? 0 : more / done;
    return (
      done + more <= this.limits.rollouts &&
      tokens * (1 + each) <= this.limits.tokens &&
      spent * (1 + each) <= this.limits.dollars
    );
  }
}
