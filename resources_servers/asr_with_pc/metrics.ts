import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";
import { collapsed, errorRate, wordErrors } from "./measures.ts";
import { normalizeEnglish } from "./normalize.ts";

const MEANS = ["wer_c", "wer_pc", "per"] as const;

/** Error rates of all words together, and means of the other rates, for each number of rollouts per task. */
export const asrMetrics: MetricsHooks = {
  compute(tasks) {
    const { metrics, maxK } = passMajorityMetrics(tasks, { scores: scoresOf });
    const suffixes = suffixesOf(tasks.flat());
    for (let k = 1; k <= maxK; k++) {
      const rows = tasks.flatMap((task) => task.slice(0, k));
      metrics[`corpus_wer@k=${k}`] =
        100 * errorRate(rows.map((row) => wordErrors(textOf(row["text"]), textOf(row["pred_text"]))));
      for (const name of MEANS) {
        const values = rows.flatMap(({ [name]: value }) => (value == null ? [] : [Number(value)]));
        if (values.length > 0)
          metrics[`${name}@k=${k}`] = (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;
      }
      for (const suffix of suffixes) {
        const errors = rows.flatMap((row) => {
          const reference = asrText(textOf(row[`text_${suffix}`]));
          return reference === ""
            ? []
            : [wordErrors(reference, asrText(textOf(row["pred_text"])) || "empty")];
        });
        if (errors.length > 0) metrics[`wer_${suffix}@k=${k}`] = 100 * errorRate(errors);
      }
    }
    return metrics;
  },
  key(all) {
    const tokens = ["mean/input_tokens", "mean/output_tokens"].filter((name) => name in all);
    const key: JsonObject = {
      ...Object.fromEntries(tokens.map((name) => [name, all[name]])),
      ...highestKMetrics(all, "pass@1[avg-of-{k}]"),
      ...highestKMetrics(all, "pass@{k}"),
    };
    const ks = Object.keys(all).flatMap((name) => /^corpus_wer@k=(\d+)$/.exec(name)?.[1] ?? []);
    const end = `@k=${Math.max(0, ...ks.map(Number))}`;
    for (const [name, value] of Object.entries(all))
      if (name.endsWith(end)) key[name === `corpus_wer${end}` ? "wer" : name.slice(0, -end.length)] = value;
    return key;
  },
};

/** Text as error rates compare it. */
export const asrText = (text: string) => collapsed(normalizeEnglish(text));

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function scoresOf(row: JsonObject): Record<string, number> {
  const { hallucination_rate } = row;
  return {
    accuracy: Number(row["is_correct"] ?? false),
    per: Number(row["per"] ?? 0),
    no_answer: textOf(row["pred_text"]).trim() === "" ? 1 : 0,
    ...(hallucination_rate != null && { hallucination_rate: Number(hallucination_rate) }),
  };
}

/** Further references, by their fields in the results: `wer_tn` belongs to `text_tn`. */
function suffixesOf(rows: readonly JsonObject[]): string[] {
  const names = rows.flatMap((row) => Object.keys(row)).filter((name) => name.startsWith("wer_"));
  return [...new Set(names)]
    .filter((name) => name !== "wer_c" && name !== "wer_pc")
    .map((name) => name.slice(4))
    .sort();
}
