import { RolloutError } from "../../errors.ts";

export const EXPORT_FORMATS = [
  "sft",
  "dpo",
  "chat",
  "trl",
  "verl",
  "nemo-rl",
  "skyrl",
  "prime-rl",
  "art",
  "atif",
  "calls",
  "csv",
  "parquet",
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** How two rollouts of a task become a pair of a better and a worse one. */
export const PAIR_SELECTIONS = ["best-worst", "all"] as const;
export type PairSelection = (typeof PAIR_SELECTIONS)[number];

export const HEALTH_FILTERS = ["any", "not-unhealthy", "healthy"] as const;
export type HealthFilter = (typeof HEALTH_FILTERS)[number];

/** Selects the rollouts of an export. */
export interface ExportFilters {
  /** Rewards from … to …, both inclusive. */
  rewardMin?: number;
  rewardMax?: number;
  /** Only tasks whose share of passing rollouts lies from … to …, both inclusive. */
  passRateMin?: number;
  passRateMax?: number;
  /** A rollout passes when its reward reaches this (default 1). */
  passThreshold?: number;
  /** Only this number of best rollouts per task. */
  bestOf?: number;
  /** Accepted verdicts of the health check: all (default), all except unhealthy, or healthy only. */
  health?: HealthFilter;
  /** Health checks to ignore. */
  ignoredChecks?: readonly string[];
  /** Only tasks with all repeats, none of which the filters above removed, for training on complete groups. */
  completeGroups?: boolean;
  /** Includes rows with `mask_sample`. */
  includeMasked?: boolean;
  /** Only rollouts with this label from the viewer. */
  label?: string;
  /** Includes rollouts that were excluded in the viewer. */
  includeExcluded?: boolean;
  /** For pairs: one pair of the best and the worst rollout (default), or all. */
  pairs?: PairSelection;
  /** For pairs: the minimum difference of rewards (default 0). Pairs with equal rewards are never used. */
  minMargin?: number;
  /** For pairs: the maximum number per task (default 8); those with the largest difference are used. */
  maxPairsPerTask?: number;
}

export const DEFAULT_MAX_PAIRS = 8;

/** Rejects contradictory filters and values out of range. */
export function checkFilters(filters: ExportFilters): void {
  const { rewardMin, rewardMax, passRateMin, passRateMax, bestOf, maxPairsPerTask, minMargin } = filters;
  if (rewardMin !== undefined && rewardMax !== undefined && rewardMin > rewardMax) {
    throw invalid(`the lowest reward ${rewardMin} is above the highest ${rewardMax}`);
  }
  const problem = passRateProblem(passRateMin, passRateMax);
  if (problem !== undefined) throw invalid(problem);
  for (const [name, count] of [
    ["best-of", bestOf],
    ["the number of pairs", maxPairsPerTask],
  ] as const) {
    if (count !== undefined && !(Number.isInteger(count) && count >= 1)) {
      throw invalid(`${name} must be a whole number of at least 1, not ${count}`);
    }
  }
  if (minMargin !== undefined && !(minMargin >= 0)) throw invalid(`a margin is at least 0, not ${minMargin}`);
}

/** Why pass rates cannot be the ends of a window; undefined if they can. */
export function passRateProblem(lowest = 0, highest = 1): string | undefined {
  const wrong = [lowest, highest].find((rate) => !(rate >= 0 && rate <= 1));
  if (wrong !== undefined) return `a pass rate must be between 0 and 1, not ${wrong}`;
  return lowest > highest ? `the lowest pass rate ${lowest} is above the highest ${highest}` : undefined;
}

function invalid(problem: string): RolloutError {
  return new RolloutError("ROLLOUT_EXPORT", `These filters cannot be used: ${problem}.`);
}
