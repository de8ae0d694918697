import type { JsonObject, MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, subsetMetrics } from "nemo-gym/metrics";
import { mathKeyMetrics, mathScores } from "../../libraries/math-answers/metrics.ts";

const scoring = { scores: mathScores, answerField: "extracted_answer" };

/** The metrics of `math_with_judge` by language, and again with tasks weighted by difficulty. */
export const weightedMetrics: MetricsHooks = {
  compute: (tasks) => ({
    ...passMajorityMetrics(tasks, scoring).metrics,
    ...subsetMetrics(tasks, "language", scoring),
    ...weighted(tasks),
  }),
  key: mathKeyMetrics,
};

interface Task {
  weight: number;
  values: number[];
  votes: { answer: unknown; value: number }[];
}

function weighted(tasks: readonly JsonObject[][]): JsonObject {
  const names = [...new Set(tasks.flat().flatMap((row) => Object.keys(mathScores(row))))].sort();
  const longest = Math.max(0, ...tasks.map((task) => task.length));
  const metrics: JsonObject = {};
  for (const name of names) {
    const scored = tasks.map((task) => scoredTask(task, name));
    for (let k = 1; k <= longest; k++) {
      const enough = scored.filter(({ values }) => values.length >= k);
      if (enough.length === 0) continue;
      metrics[`pass@${k}/${name}_weighted`] = mean(enough, ({ values }) => passAtK(values, k));
      metrics[`pass@1[avg-of-${k}]/${name}_weighted`] = mean(enough, ({ values }) =>
        average(values.slice(0, k)),
      );
      if (k >= 2)
        metrics[`majority@${k}/${name}_weighted`] = mean(enough, ({ votes }) => majority(votes.slice(0, k)));
    }
  }
  return metrics;
}

function scoredTask(task: readonly JsonObject[], name: string): Task {
  const weight = task[0]?.["weight"];
  const votes = task.flatMap((row) => {
    const score = mathScores(row)[name];
    return score === undefined ? [] : [{ answer: row["extracted_answer"], value: score ? 1 : 0 }];
  });
  return { weight: typeof weight === "number" ? weight : 1, values: votes.map(({ value }) => value), votes };
}

function mean(tasks: readonly Task[], score: (task: Task) => number): number {
  const total = tasks.reduce((sum, { weight }) => sum + weight, 0);
  return (100 * tasks.reduce((sum, task) => sum + task.weight * score(task), 0)) / total;
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The probability that at least one of k drawn rollouts is correct. */
function passAtK(values: readonly number[], k: number): number {
  const wrong = values.filter((value) => value === 0).length;
  let allWrong = 1;
  for (let index = 0; index < k; index++) allWrong *= (wrong - index) / (values.length - index);
  return 1 - Math.max(0, allWrong);
}

/** The score of the most frequent pair of answer and score; ties are averaged. */
function majority(votes: Task["votes"]): number {
  const counts = new Map<string, { count: number; value: number }>();
  for (const { answer, value } of votes) {
    if (answer === null || answer === undefined) continue;
    const key = `${value} ${String(answer)}`;
    counts.set(key, { count: (counts.get(key)?.count ?? 0) + 1, value });
  }
  const highest = Math.max(0, ...[...counts.values()].map(({ count }) => count));
  const best = [...counts.values()].filter(({ count }) => count === highest);
  return best.length === 0 ? 0 : average(best.map(({ value }) => value));
}
