/** Rows, prompts and statistics of datasets, without hubs and Parquet. */

export { type AccessSource, hubAccess, registryAccess } from "./access.ts";
export { SAMPLE_DATA_KEY, SAMPLE_OF_KEY } from "./benchmarks/prepare-context.ts";
export { needsConversion } from "./convert/needs-conversion.ts";
export { type AgentDatasets, agentsOf } from "./entry.ts";
export { parseExactRow, readTextLines } from "./lines.ts";
export {
  applyPromptConfig,
  hasPopulatedInput,
  loadPromptConfig,
  type PromptConfig,
} from "./prompt-config.ts";
export { checkTrainingRows, validateRow } from "./row-validation.ts";
export {
  ExtendedStatistics,
  type ExtendedSummary,
  extendedContent,
  tokenCounter,
} from "./statistics/extended-statistics.ts";
export { metricsContent, metricsDifferences, metricsPath } from "./statistics/metrics-file.ts";
export type { NumericSummary } from "./statistics/numeric-statistic.ts";
export { DatasetStatistics, RESERVED_FIELDS, type StatisticsSummary } from "./statistics/statistics.ts";
