import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, subsetMetrics, tokenCounts } from "nemo-gym/metrics";
import { isObject } from "nemo-gym/python";

function scores(row: JsonObject): Record<string, number> {
  const [evaluation] = Array.isArray(row["judge_evaluations"]) ? row["judge_evaluations"] : [];
  return {
    accuracy: Number(row["reward"] ?? 0),
    ...(isObject(evaluation) && { judge_no_verdict: (evaluation["verdict_label"] ?? null) === null ? 1 : 0 }),
  };
}

/** Averages and best of k, of all questions and by their tag. */
export const labbenchMetrics: MetricsHooks = {
  compute(tasks) {
    const tagged = tasks.map((rows) =>
      rows.map((row) => {
        const metadata = row["verifier_metadata"];
        return { ...row, tag: isObject(metadata) ? metadata["tag"] : undefined };
      }),
    );
    return {
      ...passMajorityMetrics(tagged, { scores }).metrics,
      ...subsetMetrics(tagged, "tag", { scores }),
    };
  },
  key: (metrics) => ({
    ...tokenCounts(metrics),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]", { scoreNames: ["accuracy"] }),
    ...highestKMetrics(metrics, "pass@{k}", { scoreNames: ["accuracy"] }),
  }),
};
