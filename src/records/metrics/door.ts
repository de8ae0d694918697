/** Statistics over rollouts. */

export { type AggregateMetrics, aggregateMetrics } from "./aggregate.ts";
export { compareRuns, type RunComparison } from "./compare.ts";
export { type Coverage, CoverageCounter } from "./coverage.ts";
export { quantileOfSorted } from "./descriptive.ts";
export { GrowableDoubles, GrowableIntegers } from "./growable-array.ts";
export { intervalCaveats } from "./interval-caveats.ts";
export { clusteredMean, type Estimate, type PassEstimates, passEstimates } from "./intervals.ts";
export { correctedDifference, wilson } from "./judge-errors.ts";
export { hashOfRollout, RolloutKeyMap } from "./rollout-key-map.ts";
export { numberOf } from "./rollout-row.ts";
export { RolloutTable } from "./rollout-table.ts";
export { type RunStatistics, runStatistics } from "./run-statistics.ts";
export { seededNumbers } from "./seeded-random.ts";
export { TaskTotals } from "./task-totals.ts";
