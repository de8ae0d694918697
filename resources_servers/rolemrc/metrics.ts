import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject } from "nemo-gym/python";
import { groupBy, mean, meanReward } from "../../libraries/text-measures/metrics.ts";

const similarities = ["rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "meteor"];
const averages = [
  "judge/avg_simple_no_mt",
  "judge/avg_simple",
  "judge/avg_weighted",
  "mean_reward",
  "mean/reward",
];

/** Averages of all rollouts, of each dimension, of each similarity and of each judged aspect. */
export const rolemrcMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const metrics: JsonObject = meanReward(rows);
    for (const [dimension, group] of groupBy(rows, "dimension")) {
      const { mean_reward, count } = meanReward(group);
      if (dimension !== "" && count !== undefined)
        Object.assign(metrics, {
          [`dimension/${dimension}/mean_reward`]: mean_reward,
          [`dimension/${dimension}/count`]: count,
        });
    }
    for (const name of similarities) {
      const values = rows.map((row) => row[name]).filter((value) => typeof value === "number");
      if (values.length > 0)
        Object.assign(metrics, {
          [`auto/${name}/mean`]: mean(values),
          [`auto/${name}/count`]: values.length,
        });
    }
    return { ...metrics, ...aspectMetrics(rows) };
  },
  key: (metrics) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) => averages.includes(name) || /\/(?:mean_reward|mean)$/.test(name),
      ),
    ),
};

/** `avg_simple` averages the aspects, `avg_weighted` the calls, `avg_simple_no_mt` the aspects of single turns. */
function aspectMetrics(rows: readonly JsonObject[]): JsonObject {
  const scores = new Map<string, number[]>();
  for (const row of rows) {
    for (const [name, score] of Object.entries(isObject(row["aspects"]) ? row["aspects"] : {})) {
      if (typeof score === "number") scores.set(name, [...(scores.get(name) ?? []), score]);
    }
  }
  if (scores.size === 0) return {};
  const metrics: JsonObject = {};
  for (const [name, values] of scores)
    Object.assign(metrics, {
      [`aspect/${name}/mean`]: mean(values),
      [`aspect/${name}/count`]: values.length,
    });
  const all = [...scores.values()];
  const singleTurn = [...scores].filter(([name]) => name !== "multi_turn_instruction");
  return {
    ...metrics,
    "judge/n_calls": all.flat().length,
    "judge/avg_simple": mean(all.map(mean)),
    "judge/avg_weighted": mean(all.flat()),
    ...(singleTurn.length > 0 && {
      "judge/avg_simple_no_mt": mean(singleTurn.map(([, values]) => mean(values))),
    }),
  };
}
