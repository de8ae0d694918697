import type { MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, usualKeyMetrics } from "nemo-gym/metrics";
import { verdicts } from "./grade.ts";

const correct = "/correct";

/** Shares of the three verdicts over repeated rollouts, with the accuracy of attempted questions and the F1 score. */
export const simpleqaMetrics: MetricsHooks = {
  compute(tasks) {
    const { metrics } = passMajorityMetrics(tasks, {
      answerField: "extracted_answer",
      scores: ({ verdict = verdicts.C }) =>
        Object.fromEntries(Object.values(verdicts).map((name) => [name, Number(verdict === name)])),
    });
    for (const key of Object.keys(metrics)) {
      if (!key.includes(correct)) continue;
      const prefix = key.slice(0, key.lastIndexOf(correct));
      const right = metrics[`${prefix}/correct`];
      const wrong = metrics[`${prefix}/incorrect`];
      if (typeof right !== "number" || typeof wrong !== "number") continue;
      const { f1, accuracyGivenAttempted } = attemptedScores(right / 100, wrong / 100);
      metrics[`${prefix}/f1`] = 100 * f1;
      metrics[`${prefix}/accuracy_given_attempted`] = 100 * accuracyGivenAttempted;
    }
    return metrics;
  },
  key: usualKeyMetrics,
};

/** Precision is the share of correct answers among attempts, recall the share among all questions. */
function attemptedScores(right: number, wrong: number): { f1: number; accuracyGivenAttempted: number } {
  const attempted = right + wrong;
  const precision = attempted > 0 ? right / attempted : 0;
  const sum = precision + right;
  return { accuracyGivenAttempted: precision, f1: sum > 0 ? (2 * precision * right) / sum : 0 };
}
