import { isTruthy } from "../../base/python/door.ts";
import { perfSummary } from "./perf-summary.ts";
import { acrossRepeats, repeatMetrics } from "./repeats.ts";
import type { Row } from "./rollout-row.ts";
import { type RecordFrame, RolloutTable, type TaskSlice } from "./rollout-table.ts";

/** The response of `POST /aggregate_metrics`. */
export interface AggregateMetrics {
  group_level_metrics: Record<string, unknown>[];
  agent_metrics: Record<string, unknown>;
  key_metrics: Record<string, unknown>;
  /** The statistics of each repeat, if there are several. Servers of others may omit them. */
  repeat_level_metrics?: Record<string, unknown>[];
  /** The summary of `ng_perf`; null without it. */
  perf_summary?: Record<string, unknown> | null;
}

/** A server's own metrics. */
export interface AggregateHooks {
  /**
   * Additional agent metrics, merged over the statistics. `tasks` are the rows grouped by task index, ascending. The
   * member `per_task_metrics` (rows with `_ng_task_index`) goes into the matching group rows instead.
   */
  computeMetrics?(tasks: Row[][]): Record<string, unknown>;
  /** Selects the headline metrics; default: every `mean/…`. */
  keyMetrics?(agentMetrics: Record<string, unknown>): Record<string, unknown>;
}

/** In this endpoint the sample names no real agent (upstream writes this literal). */
const sample = { agent_ref: { name: "agent" } };

/**
 * Statistics of verified rollouts: per task, per repeat, over all of them, and the headline. Rollouts whose sample is
 * masked are counted, and leave every other metric.
 * A missing index, a repeated (task, rollout) pair and an infinite value throw a MetricsError.
 */
export function aggregateMetrics(
  verifyResponses: readonly Row[],
  hooks: AggregateHooks = {},
): AggregateMetrics {
  const measured = verifyResponses.filter((row) => !isTruthy(row?.["mask_sample"]));
  const coverage = measured.length < verifyResponses.length ? coverageOf(verifyResponses, measured) : {};
  const perf = perfSummary(verifyResponses);
  if (measured.length === 0)
    return {
      group_level_metrics: [],
      agent_metrics: coverage,
      key_metrics: coverage,
      repeat_level_metrics: [],
      perf_summary: perf,
    };
  const table = new RolloutTable();
  for (const row of measured) table.add(row);
  const groups: Record<string, unknown>[] = [];
  const tasks: Row[][] = [];
  for (const task of table.tasks()) {
    groups.push(groupRecord(table, task, { sample, expected: task.rows.length }));
    // Rows in the order of the request, which is the order in the table.
    if (hooks.computeMetrics)
      tasks.push([...task.rows].sort((a, b) => a - b).map((row) => measured[row] ?? {}));
  }
  const { per_task_metrics: perTask, ...computed } = hooks.computeMetrics?.(tasks) ?? {};
  const ownMetrics = { ...table.statistics(table.allRows()), ...computed };
  const repeats = repeatMetrics(table);
  const indices = new Set(verifyResponses.map((row) => row?.["_ng_rollout_index"]));
  return {
    group_level_metrics: withPerTaskMetrics(groups, perTask),
    agent_metrics: {
      ...ownMetrics,
      ...acrossRepeats(repeats),
      ...coverage,
      num_repeats: indices.size,
    },
    key_metrics: { ...(hooks.keyMetrics?.(ownMetrics) ?? meanMetrics(ownMetrics)), ...coverage },
    repeat_level_metrics: repeats,
    perf_summary: perf,
  };
}

/** How many rollouts and tasks the metrics cover, when some rollouts are masked. */
function coverageOf(all: readonly Row[], measured: readonly Row[]): Record<string, number> {
  const tasksOf = (rows: readonly Row[]) => new Set(rows.map((row) => row["_ng_task_index"])).size;
  const tasks = tasksOf(measured);
  return {
    "coverage/measured_rollouts": measured.length,
    "coverage/masked_rollouts": all.length - measured.length,
    "coverage/measured_tasks": tasks,
    "coverage/fully_masked_tasks": tasksOf(all) - tasks,
  };
}

/** One task's record in metrics and profiling files. */
export function groupRecord(
  table: RolloutTable,
  task: TaskSlice,
  options: { sample: unknown; expected: number },
): Record<string, unknown> {
  const done = task.rows.length;
  const record = table.statistics(task.rows, TASK_FRAME);
  record["_ng_task_index"] = task.taskIndex;
  record["sample"] = options.sample;
  record["num_rollouts"] = done;
  record["expected_num_rollouts"] = options.expected;
  record["missing_num_rollouts"] = options.expected - done;
  record["reward_profile_completion_pct"] = (100 * done) / options.expected;
  record["rollout_infos"] = table.infos(task.rows);
  return record;
}

const TASK_FRAME: RecordFrame = {
  name: "task",
  before: ["_ng_task_index"],
  after: [
    "sample",
    "num_rollouts",
    "expected_num_rollouts",
    "missing_num_rollouts",
    "reward_profile_completion_pct",
    "rollout_infos",
  ],
};

function withPerTaskMetrics(groups: Record<string, unknown>[], perTask: unknown): Record<string, unknown>[] {
  if (!Array.isArray(perTask)) return groups;
  const extras = new Map<unknown, Row>();
  for (const extra of perTask as Row[]) extras.set(extra["_ng_task_index"], extra);
  return groups.map((group) => ({ ...group, ...extras.get(group["_ng_task_index"]) }));
}

function meanMetrics(agentMetrics: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(agentMetrics).filter(([key]) => key.startsWith("mean/")));
}
