import type { ArtifactPaths } from "../../records/files/door.ts";
import type {
  CollectResult,
  Evaluation,
  EvaluationEvent,
  ResumeSummary,
  RunSummary,
} from "../../run/door.ts";
import type { ServersEvent } from "../../servers/hosting/door.ts";

/** One line of `--json`; docs/reference/rollout-files.md lists all of them. Keys are snake_case, as in every file. */
export type JsonEvent = { event: string } & Record<string, unknown>;

export function serverJsonEvent(event: ServersEvent): JsonEvent {
  switch (event.type) {
    case "lag": {
      const { lagMs, heldMs, server = null, path = null } = event.lag;
      return { event: "server-lag", server, path, lag_milliseconds: lagMs, held_milliseconds: heldMs };
    }
    case "crashed":
      return {
        event: "server-crashed",
        server: event.server,
        message: event.message,
        last_lines: event.lastLines,
      };
    default: {
      const { type, ...rest } = event;
      return { event: `server-${type}`, ...rest };
    }
  }
}

/** All events except the start of a collection, which the progress covers. */
export function evaluationJsonEvent(event: Exclude<EvaluationEvent, { type: "started" }>): JsonEvent {
  switch (event.type) {
    case "notice":
      return { event: "notice", text: event.text };
    case "prepared":
      return {
        event: "prepared",
        resumed: event.resumed,
        paths: jsonPaths(event.paths),
        summary: jsonResumeSummary(event.summary),
      };
    case "outcome":
      return rolloutJsonEvent(event);
    case "collected":
      return { event: "collected", ...jsonResult(event.result) };
    case "summarized":
      return { event: "summarized", ...jsonSummary(event.summary) };
  }
}

export function finishedJsonEvent({ paths, result, summary }: Evaluation): JsonEvent {
  return {
    event: "finished",
    paths: jsonPaths(paths),
    ...jsonResult(result),
    coverage: summary?.coverage ?? null,
  };
}

function rolloutJsonEvent(event: Extract<EvaluationEvent, { type: "outcome" }>): JsonEvent {
  const { taskIndex, rolloutIndex, agent, attempt, milliseconds, willRetry, outcome } = event;
  const about = {
    event: "rollout",
    task_index: taskIndex,
    rollout_index: rolloutIndex,
    agent,
    attempt,
    milliseconds,
    will_retry: willRetry,
    status: outcome.status,
  };
  if (outcome.status === "completed") return { ...about, reward: outcome.row["reward"] ?? null };
  if (outcome.status === "cancelled") return { ...about, message: outcome.message };
  const { class: failureClass, stage, retryable, message } = outcome.failure;
  return { ...about, class: failureClass, stage, retryable, message };
}

/** The files of a run by the markers in their names. */
function jsonPaths(paths: ArtifactPaths): Record<string, string> {
  return {
    output: paths.output,
    materialized_inputs: paths.materializedInputs,
    failures: paths.failures,
    aggregate_metrics: paths.aggregateMetrics,
    reward_profiling: paths.rewardProfiling,
    agent_metrics: paths.agentMetrics,
    manifest: paths.manifest,
    statistics: paths.statistics,
    progress: paths.progress,
    resources: paths.resources,
  };
}

function jsonResumeSummary(summary: ResumeSummary): Record<string, unknown> {
  return {
    materialized_rows: summary.materializedRows,
    done: summary.done,
    failed_attempts: summary.failedAttempts,
    rollouts_with_failures: summary.rolloutsWithFailures,
    terminal: summary.terminal,
    exhausted: summary.exhausted,
    remaining: summary.remaining,
    duplicates: summary.duplicates,
    duplicate_lines: summary.duplicateLines,
    torn_output: summary.tornOutput,
    torn_failures: summary.tornFailures,
  };
}

function jsonResult({ completed, failed, cancelled, stoppedEarly, progress }: CollectResult) {
  return { completed, failed, cancelled, stopped_early: stoppedEarly ?? null, progress };
}

function jsonSummary({ agents, coverage, turnBoundaries, judges, countedAsZero }: RunSummary) {
  // Results per task are in the files, because they may be long.
  const short = agents.map(({ agent, metrics, statistics }) => ({
    agent,
    key_metrics: metrics.key_metrics,
    statistics: statistics ?? null,
  }));
  const zeros = countedAsZero && { counted_as_zero: countedAsZero };
  return { agents: short, coverage, ...zeros, turn_boundaries: turnBoundaries, judges };
}
