import type { MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";

/** Accuracy of multiple-choice answers over repeated rollouts, with the chosen letter as the vote. */
export const choiceMetrics: MetricsHooks = {
  compute: (tasks) => passMajorityMetrics(tasks, { answerField: "extracted_answer" }).metrics,
  key(metrics) {
    const key: Record<string, unknown> = {};
    if ("mean/reward" in metrics) key["mean/reward"] = metrics["mean/reward"];
    Object.assign(
      key,
      highestKMetrics(metrics, "pass@1[avg-of-{k}]", { scoreNames: ["accuracy", "no_answer"] }),
      highestKMetrics(metrics, "pass@{k}", { scoreNames: ["no_answer"] }),
      highestKMetrics(metrics, "majority@{k}", { scoreNames: ["accuracy"] }),
    );
    if ("pass@1/accuracy" in metrics) key["pass@1/accuracy"] = metrics["pass@1/accuracy"];
    return key;
  },
};
