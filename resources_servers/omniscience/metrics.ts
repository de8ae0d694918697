import type { MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, usualKeyMetrics } from "nemo-gym/metrics";

export const verdicts = { A: "correct", B: "incorrect", C: "partial", D: "not_attempted" } as const;

const correct = "/judge_correct";

/** Shares of the verdicts over repeated rollouts, with the index (correct minus incorrect) and the rate of hallucinations. */
export const omniscienceMetrics: MetricsHooks = {
  compute(tasks) {
    const { metrics } = passMajorityMetrics(tasks, {
      answerField: "extracted_answer",
      scores: ({ verdict }) => ({
        judge_correct: Number(verdict === verdicts.A),
        // Negative, so that the best of k is the one without an error.
        judge_incorrect: verdict === verdicts.B ? -1 : 0,
        judge_partially_correct: Number(verdict === verdicts.C),
        judge_abstained: Number(verdict === verdicts.D),
      }),
    });
    for (const key of Object.keys(metrics).filter((name) => name.endsWith(correct))) {
      const prefix = key.slice(0, -correct.length);
      const share = (name: string) => Number(metrics[`${prefix}/${name}`] ?? 0);
      const incorrect = -share("judge_incorrect");
      const wrong = incorrect + share("judge_partially_correct") + share("judge_abstained");
      metrics[`${prefix}/judge_omni_index`] = share("judge_correct") - incorrect;
      metrics[`${prefix}/judge_omni_hallucination`] = wrong > 0 ? (100 * incorrect) / wrong : 0;
    }
    return metrics;
  },
  key: usualKeyMetrics,
};
