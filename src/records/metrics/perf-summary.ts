import { mean, medianOfSorted, quantileOfSorted } from "./descriptive.ts";
import { numberOf, type Row } from "./rollout-row.ts";

const TOKENS = ["prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens"];

/** The summary of `ng_perf` of rows: tokens, turns and latency; null if no row has it. */
export function perfSummary(rows: readonly Row[]): Row | null {
  const reports = rows.map((row) => row?.["ng_perf"]).filter((perf): perf is Row => isReport(perf));
  if (reports.length === 0) return null;
  const valuesOf = (name: string) =>
    reports.map((report) => numberOf(report[name])).filter((value) => value !== undefined);
  const covered = valuesOf("token_observability_coverage").filter((coverage) => coverage > 0);
  const summary: Row = {
    overall_observability_coverage: reports.length / rows.length,
    token_observability_coverage: covered.length / rows.length,
  };
  for (const name of TOKENS) {
    const values = valuesOf(name);
    if (values.length === 0) continue;
    summary[`mean_${name}`] = mean(values);
    summary[`median_${name}`] = medianOfSorted(sorted(values));
    summary[`total_${name}`] = values.reduce((sum, value) => sum + value, 0);
  }
  const turns = sorted(valuesOf("num_turns"));
  if (turns.length > 0) {
    const average = mean(turns);
    const variance = mean(turns.map((turn) => (turn - average) ** 2));
    Object.assign(summary, {
      mean_num_turns: average,
      median_num_turns: medianOfSorted(turns),
      std_num_turns: Math.sqrt(variance),
      min_num_turns: turns[0],
      p90_num_turns: quantileOfSorted(turns, 0.9),
      max_num_turns: turns[turns.length - 1],
    });
  }
  const perTurn = sorted(reports.flatMap(tokensPerTurn));
  if (perTurn.length > 0)
    Object.assign(summary, {
      mean_tokens_per_turn: mean(perTurn),
      median_tokens_per_turn: medianOfSorted(perTurn),
    });
  const latencies = sorted(valuesOf("total_latency_ms"));
  if (latencies.length > 0) {
    for (const percent of [50, 90, 99])
      summary[`total_latency_p${percent}_ms`] = quantileOfSorted(latencies, percent / 100);
    summary["total_latency_mean_ms"] = mean(latencies);
  }
  return summary;
}

function isReport(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}

function tokensPerTurn(report: Row): number[] {
  const turns = numberOf(report["num_turns"]);
  const tokens = numberOf(report["completion_tokens"]);
  return turns && tokens !== undefined ? [tokens / turns] : [];
}
