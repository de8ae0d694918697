import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject } from "nemo-gym/python";

/** Averages of the translated documents, by target language. Rollouts without a translation are left out. */
export const longmtMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat().filter((row) => row["generation"]);
    const languages = [...new Set(rows.map((row) => String(row["target_language"] ?? "")))].sort();
    const metrics: JsonObject = Object.fromEntries(
      languages.map((language) => [
        language,
        summarize(rows.filter((row) => String(row["target_language"] ?? "") === language)),
      ]),
    );
    const overall = mean(rows, "comet_qe");
    return overall === null ? metrics : { ...metrics, overall_comet_qe: overall };
  },
  key: (metrics) =>
    Object.fromEntries(
      Object.entries(metrics).flatMap(([name, value]) =>
        isObject(value) && typeof value["comet_qe"] === "number" ? [[name, value["comet_qe"]]] : [],
      ),
    ),
};

function summarize(rows: readonly JsonObject[]): JsonObject {
  const total_seg = sum(rows, "total_seg");
  const misaligned_seg = sum(rows, "misaligned_seg");
  return {
    comet_qe: mean(rows, "comet_qe"),
    lang_fidelity: mean(rows, "lang_fidelity"),
    total_seg,
    misaligned_seg,
    misaligned_rate: total_seg > 0 ? misaligned_seg / total_seg : null,
    n_docs: rows.length,
  };
}

function numbers(rows: readonly JsonObject[], field: string): number[] {
  return rows.map((row) => row[field]).filter((value) => typeof value === "number");
}

function sum(rows: readonly JsonObject[], field: string): number {
  return numbers(rows, field).reduce((left, right) => left + right, 0);
}

function mean(rows: readonly JsonObject[], field: string): number | null {
  const values = numbers(rows, field);
  return values.length === 0 ? null : values.reduce((left, right) => left + right, 0) / values.length;
}
