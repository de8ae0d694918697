import type { MetricsHooks } from "nemo-gym";
import { pyStr } from "nemo-gym/python";

/** Means of the scores, of all results and by format and task. */
export const structevalMetrics: MetricsHooks = {
  compute(tasks) {
    const scores = new Map<string, number[]>();
    const add = (name: string, score: unknown = 0) => {
      const known = scores.get(name);
      if (known) known.push(Number(score));
      else scores.set(name, [Number(score)]);
    };
    for (const row of tasks.flat()) {
      const group = (field: string) => (row[field] === undefined ? "unknown" : pyStr(row[field]));
      const output = group("output_type");
      add("render_score", row["render_score"]);
      add("key_validation_score", row["key_validation_score"]);
      add(`reward_output_${output}`, row["reward"]);
      add(`reward_input_${group("input_type")}`, row["reward"]);
      add(`reward_${group("task_name")}`, row["reward"]);
      add(`render_score_${output}`, row["render_score"]);
      add(`key_validation_score_${output}`, row["key_validation_score"]);
    }
    return Object.fromEntries([...scores].map(([name, values]) => [`mean/${name}`, mean(values)]));
  },
};

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
