import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";

const ACCURACIES = ["exact_accuracy", "binarized_accuracy"];

/** Accuracies, and the mean absolute error in points over the rollouts with a grade. */
export const gradingMetrics: MetricsHooks = {
  compute(tasks) {
    const { metrics, maxK } = passMajorityMetrics(tasks, {
      answerField: "extracted_grade",
      scores: ({ reward, binary_match }) => ({
        exact_accuracy: Number(reward),
        binarized_accuracy: Number(binary_match),
      }),
    });
    for (let k = 1; k <= maxK; k++) {
      const errors = tasks.map((task) => errorsOf(task.slice(0, k)));
      write(metrics, `pass@1[avg-of-${k}]/`, errors.flat());
      const graded = errors.filter((task) => task.length > 0);
      write(
        metrics,
        `pass@${k}/`,
        graded.map((task) => Math.min(...task)),
      );
    }
    write(metrics, "", errorsOf(tasks.flat()));
    return metrics;
  },
  key: (metrics) => ({
    ...pick(metrics, "mean/reward"),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]", { scoreNames: [...ACCURACIES, "mae", "no_answer"] }),
    ...highestKMetrics(metrics, "pass@{k}", { scoreNames: [...ACCURACIES, "mae"] }),
    ...highestKMetrics(metrics, "majority@{k}", { scoreNames: ACCURACIES }),
    ...pick(metrics, "mae"),
    ...pick(metrics, "mae_count"),
  }),
};

function errorsOf(rows: readonly JsonObject[]): number[] {
  return rows.map(({ score_diff }) => score_diff).filter((error) => typeof error === "number");
}

function write(metrics: JsonObject, prefix: string, errors: readonly number[]): void {
  if (errors.length === 0) return;
  metrics[`${prefix}mae`] = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  metrics[`${prefix}mae_count`] = errors.length;
}

function pick(metrics: JsonObject, name: string): JsonObject {
  return name in metrics ? { [name]: metrics[name] } : {};
}
