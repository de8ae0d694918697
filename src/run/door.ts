/** Running an evaluation and what belongs to it. */

export { type AggregateResult, aggregate } from "./aggregate.ts";
export { Collection } from "./collect/collect.ts";
export type { CollectResult } from "./collect/collect-contract.ts";
export { rejectReplacingExport, rejectReplacingRun } from "./earlier-results.ts";
export { configuredAgents } from "./evaluation-input.ts";
export type { HealthSetting } from "./health-after-run.ts";
export type { EvaluationOptions } from "./options.ts";
export { checkModelEndpoints } from "./preflight.ts";
export { assertNotOverwriting } from "./resume/prepare-run.ts";
export type { ResumeSummary } from "./resume/resume.ts";
export type { Evaluation, EvaluationEvent } from "./run.ts";
export { type EvaluationRun, runEvaluation, type ScoredRun } from "./run-evaluation.ts";
export type { RunEvent } from "./run-events.ts";
export { locateInstances, startServers } from "./start-servers.ts";
export type { RunSummary } from "./summarize.ts";
export type { TrackedRun } from "./tracking.ts";
