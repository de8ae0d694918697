/**
 * Runs evaluations from a program: start servers, collect rollouts, score them, compare and export the results. The
 * command line uses the same functions.
 *
 * @module
 */

export type { ResolvedConfig } from "../config/resolve.ts";
export type { ArtifactPaths } from "../records/files/artifact-paths.ts";
export type { AggregateMetrics } from "../records/metrics/aggregate.ts";
export type { Coverage } from "../records/metrics/coverage.ts";
export type { Estimate } from "../records/metrics/intervals.ts";
export type { RunStatistics } from "../records/metrics/run-statistics.ts";
export {
  type CompareFilesOptions as CompareOptions,
  compareFiles as compare,
  type FilesComparison as Comparison,
} from "../records/results/compare-files.ts";
export { type ExportOptions, type ExportReport, exportRollouts } from "../records/results/export/export.ts";
export {
  checkHealth,
  type HealthOptions,
  type HealthReport,
} from "../records/results/health/health-check.ts";
export {
  type ProfileRunOptions as ProfileOptions,
  profileRun as profile,
} from "../records/results/profile-files.ts";
export {
  type SelectionReport,
  type SelectOptions,
  selectTasks,
} from "../records/results/select/select-tasks.ts";
export type { ServerClient, ServerReply } from "../servers/calls/server-client.ts";
export type { TokenCaptureRecord } from "../servers/capture/token-record.ts";
export type { TokenSink, TokenSnapshot, TokenSource } from "../servers/capture/token-sink.ts";
export type { RunEvent as ServerEvent, RunningServers } from "../servers/hosting/processes/run-servers.ts";
export { type AggregateOptions, type AggregateResult, aggregate } from "./aggregate.ts";
export type { OutcomeEvent } from "./collect/collect-contract.ts";
export { type ConnectedRun, connectToRun } from "./head.ts";
export type { HealthSetting } from "./health-after-run.ts";
export type { EvaluationOptions, EvaluationServers } from "./options.ts";
export { type ReverifyOptions, type ReverifyResult, reverify } from "./reverify/reverify.ts";
export type { RolloutDriver, RolloutDriverContext } from "./rollout-driver.ts";
export type { ModelChoice, RunConfig, RunSource } from "./run-config.ts";
export {
  type EvaluationResult,
  type EvaluationRun,
  type FileResult,
  type LoadOptions,
  loadRollouts,
  type MemoryResult,
  type Rollout,
  runEvaluation,
} from "./run-evaluation.ts";
export type { RunEvent } from "./run-events.ts";
export { type StartOptions, startServers } from "./start-servers.ts";
export type { AgentSummary, RunSummary } from "./summarize.ts";
export type { TrackedRun } from "./tracking.ts";
