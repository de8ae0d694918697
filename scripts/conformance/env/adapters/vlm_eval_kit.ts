import type { Adapter } from "../adapters.ts";
import { isMetricsRow, runMetricsCase } from "../metrics-case.ts";

/** The key metrics of the fixtures were picked from the metrics of the environment and this average. */
const agent_metrics_added = { "mean/OCRBench": 0.5 };

export const adapter: Adapter = {
  caseOf: (row, environment) =>
    isMetricsRow(row) ? () => runMetricsCase({ ...row, agent_metrics_added }, environment) : undefined,
};
