import type { MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, type ScoreFunction, subsetMetrics, usualKeyMetrics } from "nemo-gym/metrics";

const scores: ScoreFunction = ({ reward = 0, rubric_score_normalized: share = null }) => ({
  accuracy: Number(reward),
  ...(share !== null && { rubric_score: Number(share) }),
});
const options = { scores, answerField: "extracted_answer" };

/** Accuracy and points over repeated rollouts, also by subject. */
export const frontierscienceMetrics: MetricsHooks = {
  compute: (tasks) => ({
    ...passMajorityMetrics(tasks, options).metrics,
    ...subsetMetrics(tasks, "subject", options),
  }),
  key: (metrics) => usualKeyMetrics(metrics, { majority: true }),
};
