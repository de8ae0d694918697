import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject } from "nemo-gym/python";

const MEANS = [
  "rubric_partial_credit",
  "rubric_weighted_fraction",
  "rubric_fraction",
  "rubric_all_pass",
] as const;
const KEY_COUNTS = [
  "criteria_unresolved",
  "rollouts_with_judge_error",
  "rollouts_without_submission",
  "dealbreakers_failed",
];

/** What the judge decided in all rollouts. Rollouts without a submission count as 0. */
export const rubricMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    if (rows.length === 0) return {};
    const judgements = rows.flatMap(({ rubric_judgements: list }) =>
      Array.isArray(list) ? list.filter(isObject) : [],
    );
    const resolved = judgements.filter(({ score }) => score !== null);
    const scored = rows.filter(
      ({ rubric_partial_credit: credit }) => credit !== null && credit !== undefined,
    );
    const strict = rows.filter(({ rubric_dealbreakers_total: total }) => Number(total ?? 0) > 0);
    const metrics: JsonObject = {
      "rubric/rollouts": rows.length,
      "rubric/criteria_total": judgements.length,
      "rubric/criteria_resolved": resolved.length,
      "rubric/criteria_unresolved": judgements.length - resolved.length,
      "rubric/rollouts_with_judge_error": rows.filter(({ judge_error }) => Boolean(judge_error)).length,
      "rubric/rollouts_without_submission": rows.filter(
        ({ rubric_judgements: list, judge_error }) => !Array.isArray(list) && !judge_error,
      ).length,
      "rubric/parse_failures": sum(judgements, "parse_failures"),
      "rubric/api_failures": sum(judgements, "api_failures"),
    };
    if (scored.length > 0)
      for (const name of MEANS) metrics[`mean/${name}`] = sum(scored, name) / scored.length;
    if (strict.length > 0) {
      const tripped = strict.filter(({ rubric_dealbreakers_failed: failed }) => Number(failed) > 0);
      metrics["mean/rubric_dealbreaker_tripped"] = tripped.length / strict.length;
      metrics["rubric/dealbreakers_total"] = sum(strict, "rubric_dealbreakers_total");
      metrics["rubric/dealbreakers_failed"] = sum(strict, "rubric_dealbreakers_failed");
    }
    if (resolved.length > 0) {
      metrics["mean/criterion_pass_rate"] = sum(resolved, "score") / resolved.length;
      metrics["mean/judge_disagreement_rate"] =
        resolved.filter(({ unanimous }) => unanimous === false).length / resolved.length;
    }
    if (judgements.length > 0)
      metrics["rubric/mean_attempts_per_criterion"] = sum(judgements, "attempts_used") / judgements.length;
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) => name.startsWith("mean/") || KEY_COUNTS.some((count) => name === `rubric/${count}`),
      ),
    ),
};

function sum(rows: readonly JsonObject[], name: string): number {
  return rows.reduce((total, row) => total + Number(row[name] ?? 0), 0);
}
