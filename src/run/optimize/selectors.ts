import { bestCandidate, paretoFront, type Scores, weightedChoice } from "./pareto.ts";

/** Selects the candidate to change next. */
export interface Selector {
  /** `pool` has the validation scores of each candidate. */
  select(pool: ReadonlyMap<number, Scores>, random: () => number): number;
}

export const SELECTORS = {
  /** One of those that lead some task, the more often the more tasks it leads. */
  pareto: { select: (pool, random) => weightedChoice(paretoFront(pool), random) },
  /** Always the best so far. */
  best: { select: (pool) => bestCandidate(pool) },
} as const satisfies Record<string, Selector>;
export type SelectorName = keyof typeof SELECTORS;
