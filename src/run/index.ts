/**
 * Runs evaluations from a program: start servers, collect rollouts, score them, compare and export the results. The
 * command line uses the same functions.
 *
 * @module
 */

export type { ResolvedConfig } from "../config/door.ts";
export type { ArtifactPaths } from "../records/files/door.ts";
export type { AggregateMetrics, Coverage, Estimate, RunStatistics } from "../records/metrics/door.ts";
export {
  type CompareFilesOptions as CompareOptions,
  compareFiles as compare,
  type FilesComparison as Comparison,
  type ProfileRunOptions as ProfileOptions,
  profileRun as profile,
  type SelectionReport,
  type SelectOptions,
  selectTasks,
} from "../records/results/door.ts";
export { type ExportOptions, type ExportReport, exportRollouts } from "../records/results/export/door.ts";
export { checkHealth, type HealthOptions, type HealthReport } from "../records/results/light-door.ts";
export type { TokenCaptureRecord, TokenSink, TokenSource } from "../servers/capture/door.ts";
export type { RunningServers, ServersEvent as ServerEvent } from "../servers/hosting/door.ts";
export { type AggregateOptions, type AggregateResult, aggregate } from "./aggregate.ts";
export type { OutcomeEvent } from "./collect/collect-contract.ts";
export { type ConnectedRun, connectToRun } from "./head.ts";
export type { TextOverrides } from "./inputs/text-overrides.ts";
export { type OptimizeEvent, type OptimizeResult, type OptimizeRun, optimize } from "./optimize/optimize.ts";
export type { OptimizeOptions } from "./optimize/options.ts";
export type { Proposal, ProposalRequest, Proposer } from "./optimize/proposers.ts";
export type { Selector } from "./optimize/selectors.ts";
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
