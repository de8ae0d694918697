import type { JsonObject, MetricsHooks } from "nemo-gym";
import { groupBy } from "../../libraries/text-measures/metrics.ts";

const ERRORS = ["judge_call_failed", "empty_judge_output", "unknown_question_type", "bad_metadata"];
/** Rollouts with these errors leave the denominator. */
const EXCLUDED = new Set<unknown>(["judge_call_failed", "unknown_question_type"]);

/** Accuracy, also by type of question and for questions without an answer. */
export const longmemevalMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const errors = rows.map(({ judge_error }) => judge_error).filter(Boolean);
    const scored = rows.filter(({ judge_error }) => !EXCLUDED.has(judge_error));
    const metrics: JsonObject = Object.fromEntries(
      ERRORS.map((name) => [`n_${name}`, errors.filter((error) => error === name).length]),
    );
    metrics["n_judge_errors_other"] = errors.filter((error) => !ERRORS.includes(String(error))).length;
    metrics["n_excluded"] = rows.length - scored.length;
    metrics["n_empty_response"] = rows.filter(({ empty_response }) => empty_response).length;
    metrics["accuracy_strict"] = accuracyOf(rows);
    write(metrics, "", scored);
    const typed = scored.map((row) => ({ ...row, question_type: row["question_type"] || "unknown" }));
    for (const [type, group] of groupBy(typed, "question_type"))
      write(metrics, `question_type/${type}/`, group);
    const unanswerable = scored.filter(({ abstention }) => abstention);
    if (unanswerable.length > 0) write(metrics, "abstention/", unanswerable);
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(
      ["accuracy", "abstention/accuracy", "n_excluded"]
        .filter((name) => name in metrics)
        .map((name) => [name, metrics[name]]),
    ),
};

function write(metrics: JsonObject, prefix: string, rows: readonly JsonObject[]): void {
  metrics[`${prefix}accuracy`] = accuracyOf(rows);
  metrics[`${prefix}count`] = rows.length;
}

function accuracyOf(rows: readonly JsonObject[]): number {
  return rows.reduce((sum, { reward }) => sum + Number(reward ?? 0), 0) / (rows.length || 1);
}
