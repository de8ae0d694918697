/** What every run needs at its end, without the other readers of runs. */

export { type CoverageSources, coverageOf } from "./coverage-of-files.ts";
export { checkHealth, type HealthOptions, type HealthReport, requireKnown } from "./health/health-check.ts";
