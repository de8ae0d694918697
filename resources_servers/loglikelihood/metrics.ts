import type { JsonObject, MetricsHooks } from "nemo-gym";

/** Means of the accuracies; perplexities over all texts together, as lm-eval computes them. */
export const likelihoodMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const metrics: JsonObject = {};
    for (const name of ["acc", "acc_norm", "acc_bytes", "exact_match"]) {
      const values = rows.flatMap((row) => (typeof row[name] === "number" ? [row[name]] : []));
      if (values.length > 0) metrics[name] = sum(values) / values.length;
    }
    const continuations = rows.filter(({ output_type: type }) => type === "loglikelihood");
    if (continuations.length > 0)
      metrics["perplexity"] = Math.exp(-total(continuations, "loglikelihood") / continuations.length);
    const texts = rows.filter(({ output_type: type }) => type === "loglikelihood_rolling");
    if (texts.length > 0) {
      const loglikelihood = total(texts, "loglikelihood");
      metrics["word_perplexity"] = Math.exp(-loglikelihood / total(texts, "words"));
      metrics["byte_perplexity"] = Math.exp(-loglikelihood / total(texts, "bytes"));
      metrics["bits_per_byte"] = -loglikelihood / total(texts, "bytes") / Math.LN2;
    }
    return metrics;
  },
  key: (metrics) =>
    Object.fromEntries(KEY_METRICS.flatMap((name) => (name in metrics ? [[name, metrics[name]]] : []))),
};

const KEY_METRICS = [
  "mean/reward",
  "acc",
  "acc_norm",
  "acc_bytes",
  "exact_match",
  "perplexity",
  "word_perplexity",
  "byte_perplexity",
  "bits_per_byte",
];

function total(rows: readonly JsonObject[], name: string): number {
  return sum(rows.map((row) => Number(row[name])));
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
