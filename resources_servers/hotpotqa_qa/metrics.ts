import type { MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, type Row, tokenCounts } from "nemo-gym/metrics";
import { isTruthy } from "nemo-gym/python";

const scoreNames = ["answer_em", "answer_f1", "is_correct", "is_correct_strict"];

/** The four scores over repeated rollouts, on request also without the tasks whose answers are unreliable (`filtered_…`). */
export function hotpotqaMetrics(filtered: boolean): MetricsHooks {
  return {
    compute(tasks) {
      const metrics = scoreMetrics(tasks);
      if (!filtered) return metrics;
      const reliable = tasks.filter((task) => task[0] && !isTruthy(task[0]["gt_should_remove"]));
      const { per_sample_aggregate: _, ...filteredMetrics } = scoreMetrics(reliable);
      for (const [name, value] of Object.entries(filteredMetrics)) metrics[`filtered_${name}`] = value;
      return { ...metrics, filtered_num_tasks: reliable.length, unfiltered_num_tasks: tasks.length };
    },
    key(metrics) {
      const patterns = ["pass@1[avg-of-{k}]", "pass@{k}", "majority@{k}"];
      const chosen = ["", "filtered_"].flatMap((prefix) =>
        patterns.map((pattern) => highestKMetrics(metrics, prefix + pattern, { scoreNames })),
      );
      return Object.assign(tokenCounts(metrics), ...chosen);
    },
  };
}

function scoreMetrics(tasks: Row[][]): Record<string, unknown> {
  return passMajorityMetrics(tasks, {
    scores: (row) =>
      Object.fromEntries(scoreNames.filter((name) => name in row).map((name) => [name, Number(row[name])])),
    answerField: "extracted_answer",
  }).metrics;
}
