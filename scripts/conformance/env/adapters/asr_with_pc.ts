import { punctuationErrorRate, tokensOf } from "../../../../resources_servers/asr_with_pc/measures.ts";
import { asrText } from "../../../../resources_servers/asr_with_pc/metrics.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { isMetricsRow, runMetricsCase } from "../metrics-case.ts";
import { type FixtureRow, readLines } from "../rows.ts";

/** Cases of single functions. */
const FUNCTIONS: Readonly<Record<string, (row: FixtureRow) => unknown>> = {
  normalize: ({ text }) => asrText(String(text)),
  per: ({ reference, hypothesis }) => punctuationErrorRate(String(reference), String(hypothesis)),
  tokens: ({ text }) => tokensOf(String(text)),
};
/** The key metrics of the fixtures were picked from the metrics of the environment and this average. */
const agent_metrics_added = { "mean/input_tokens": 1.5 };

export const adapter: Adapter = {
  rows: readLines,
  caseOf(row, environment) {
    const call = FUNCTIONS[String(row["kind"])];
    if (call) return () => difference(call(row), row.expected, "result", { relative: 1e-9 });
    return isMetricsRow(row) ? () => runMetricsCase({ ...row, agent_metrics_added }, environment) : undefined;
  },
};
