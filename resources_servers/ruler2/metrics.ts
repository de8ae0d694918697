import type { JsonObject, MetricsHooks } from "nemo-gym";
import { passMajorityMetrics, subsetMetrics, usualKeyMetrics } from "nemo-gym/metrics";

/** A suite has each kind of task in each difficulty. */
const suite = ["mk_niah", "mv_niah", "qa"].flatMap((kind) =>
  ["basic", "easy", "medium", "hard"].map((difficulty) => `${kind}_${difficulty}`),
);
const averagePrefix = "ruler2_suite_avg/";

/** Accuracy over all tasks, for each task, and the average of the tasks if the suite is complete. */
export const ruler2Metrics: MetricsHooks = {
  compute(tasks) {
    const byTask = subsetMetrics(tasks, "task");
    return { ...passMajorityMetrics(tasks).metrics, ...byTask, ...suiteAverages(byTask) };
  },
  key: (metrics) => ({
    ...usualKeyMetrics(metrics),
    ...Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith(averagePrefix))),
  }),
};

function suiteAverages(byTask: JsonObject): JsonObject {
  const averages: JsonObject = {};
  const [first = ""] = suite;
  for (const name of Object.keys(byTask).filter((key) => key.startsWith(`${first}/`))) {
    const metric = name.slice(first.length + 1);
    const values = suite.map((task) => byTask[`${task}/${metric}`]);
    if (values.every((value) => typeof value === "number"))
      averages[averagePrefix + metric] = values.reduce((sum, value) => sum + value, 0) / suite.length;
  }
  return averages;
}
