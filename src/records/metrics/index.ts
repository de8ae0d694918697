/**
 * Metrics that environments compute over their rollouts.
 *
 * @module
 */
export { tokenCounts, usualKeyMetrics } from "./key-metrics.ts";
export {
  averageSampleDeviations,
  type HighestKOptions,
  highestKMetrics,
  type PassMajorityOptions,
  type PassMajorityResult,
  passMajorityMetrics,
  type ScoreFunction,
  subsetMetrics,
} from "./pass-at-k.ts";
export type { Row } from "./rollout-row.ts";
