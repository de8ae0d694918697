import { errorMessage } from "../base/errors.ts";
import { dumpsCompact, isObject } from "../base/python/json/door.ts";
import { type ArtifactPaths, type Row, readRows, writeFileAtomically } from "../records/files/door.ts";
import type { TurnBoundaries } from "../records/light-door.ts";
import {
  type AggregateMetrics,
  aggregateMetrics,
  type Coverage,
  type RunStatistics,
  runStatistics,
} from "../records/metrics/door.ts";
import { type CoverageSources, coverageOf } from "../records/results/light-door.ts";
import { callServer, isServerCallError, type ServerClient } from "../servers/calls/door.ts";
import type { JudgeCalls } from "../wire/light-door.ts";
import { type AgentRows, RunTotals } from "./collect/run-totals.ts";
import { addZeros, type CountedAsZero, type ZeroSetting } from "./count-as-zero.ts";

export interface AgentSummary {
  agent: string;
  /** The environment server of the rollouts, if the rows name one. */
  environment?: string;
  metrics: AggregateMetrics;
  statistics: RunStatistics | undefined;
}

export interface RunSummary {
  agents: AgentSummary[];
  coverage: Coverage;
  /** How turns continue the tokens before them; null when no rollout has token ids. */
  turnBoundaries: TurnBoundaries | null;
  /** Who judged the rollouts; empty if nobody did. */
  judges: JudgeCalls[];
  /** Rollouts in the metrics that nothing scored, if the settings count them as zero. */
  countedAsZero?: CountedAsZero;
}

interface SummarySources extends CoverageSources {
  /** Files of rollouts: the output of a run, or its shards. */
  rollouts: readonly string[];
  zeros?: ZeroSetting;
}

interface SummaryOptions {
  /** Paths of the files to write. */
  targets: Pick<ArtifactPaths, "aggregateMetrics" | "statistics">;
  /** The servers that compute the metrics of an agent; without them the default metrics are computed here. */
  metricsFrom?: { client: ServerClient; serverOf?: (agent: string) => string };
  signal?: AbortSignal;
  onNotice: (text: string) => void;
}

/** Summarizes a run that has just ended: by its totals if all its rows were counted, else by its files. */
export async function summarizeRun(options: {
  paths: Pick<
    ArtifactPaths,
    "output" | "failures" | "materializedInputs" | "aggregateMetrics" | "statistics"
  >;
  totals: RunTotals | undefined;
  zeros?: ZeroSetting;
  client: ServerClient;
  signal?: AbortSignal;
  onNotice: (text: string) => void;
}): Promise<RunSummary> {
  const { paths, totals, zeros, client, signal, onNotice } = options;
  const sources: SummarySources = {
    rollouts: [paths.output],
    failures: [paths.failures],
    materializedInputs: [paths.materializedInputs],
    zeros,
    signal,
  };
  const counted = totals && !totals.lacksEntries ? totals : await totalsOf(sources);
  const targets = { targets: paths, metricsFrom: { client }, signal, onNotice };
  return summarizeTotals(counted, sources, targets);
}

/**
 * Reads the results of a run and computes its metrics: those of the Python original through the servers'
 * `/aggregate_metrics`, and the additional statistics (intervals, pass@k, coverage). Writes both files. Without rows only
 * the coverage is known, and nothing is written.
 */
export async function summarize(options: SummarySources & SummaryOptions): Promise<RunSummary> {
  return summarizeTotals(await totalsOf(options), options, options);
}

async function totalsOf(options: SummarySources): Promise<RunTotals> {
  const totals = new RunTotals(await coverageOf(options));
  for (const path of options.rollouts) {
    for await (const { row } of readRows(path, { signal: options.signal, onTornLine: () => {} }))
      totals.add(row);
  }
  return totals;
}

async function summarizeTotals(
  totals: RunTotals,
  sources: SummarySources,
  options: SummaryOptions,
): Promise<RunSummary> {
  const countedAsZero = sources.zeros && (await addZeros(totals, sources, sources.zeros));
  const agents = await Promise.all(
    [...totals.byAgent].map(async ([agent, rows]) => ({
      agent,
      ...(rows.environment !== undefined && { environment: rows.environment }),
      metrics: await metricsOf(agent, rows, options),
      statistics: runStatistics(rows.table, rows.masked),
    })),
  );
  const summary = {
    agents,
    coverage: totals.coverage.result(),
    turnBoundaries: totals.boundaries.counts,
    judges: totals.judges,
    ...(countedAsZero && { countedAsZero }),
  };
  if (agents.length > 0) await writeSummary(summary, options.targets);
  return summary;
}

async function metricsOf(
  agent: string,
  rows: AgentRows,
  { metricsFrom, signal, onNotice }: SummaryOptions,
): Promise<AggregateMetrics> {
  if (!rows.entries) {
    onNotice(
      `${agent} has ${rows.table.size} rows, too many for one request to its servers: its custom metrics are left out.`,
    );
    return {
      group_level_metrics: [],
      agent_metrics: rows.table.statistics(rows.table.allRows()),
      key_metrics: {},
    };
  }
  rows.entries.sort(byKey);
  if (!metricsFrom) return aggregateMetrics(rows.entries);
  try {
    const reply = await callServer(metricsFrom.client, {
      server: metricsFrom.serverOf?.(agent) ?? agent,
      path: "/aggregate_metrics",
      body: { verify_responses: rows.entries },
      stage: "run",
      idempotent: true,
      signal,
    });
    const metrics = reply.json();
    if (!isAggregate(metrics)) throw new Error("the answer lacks agent_metrics or key_metrics");
    return metrics;
  } catch (error) {
    signal?.throwIfAborted();
    // The rollouts are kept: the default metrics need no server. A server without the route has no other metrics.
    if (!isServerCallError(error) || error.status !== 404)
      onNotice(
        `${agent} could not aggregate its metrics (${errorMessage(error)}); the default ones were computed here.`,
      );
    return aggregateMetrics(rows.entries);
  }
}

/** Servers of other implementations can return any JSON. */
function isAggregate(value: unknown): value is AggregateMetrics {
  if (!isObject(value)) return false;
  return isObject(value["agent_metrics"]) && isObject(value["key_metrics"]);
}

function byKey(a: Row, b: Row): number {
  const task = Number(a["_ng_task_index"]) - Number(b["_ng_task_index"]);
  return task !== 0 ? task : Number(a["_ng_rollout_index"]) - Number(b["_ng_rollout_index"]);
}

async function writeSummary(
  { agents, coverage, turnBoundaries, judges, countedAsZero }: RunSummary,
  paths: Pick<ArtifactPaths, "aggregateMetrics" | "statistics">,
): Promise<void> {
  const metrics = agents.map(({ agent, environment, metrics: own }) => ({
    agent_ref: { name: agent },
    ...(environment !== undefined && { _ng_environment_server: environment }),
    agent_metrics: own.agent_metrics,
    key_metrics: own.key_metrics,
    group_level_metrics: own.group_level_metrics,
    repeat_level_metrics: own.repeat_level_metrics ?? [],
    ...(own.perf_summary && { perf_summary: own.perf_summary }),
  }));
  const statistics = {
    coverage,
    ...(countedAsZero && { counted_as_zero: countedAsZero }),
    ...(turnBoundaries && { turn_boundaries: turnBoundaries }),
    ...(judges.length > 0 && { judges }),
    agents: agents.map(({ agent, statistics: own }) => ({ agent_ref: { name: agent }, ...own })),
  };
  await writeFileAtomically(paths.aggregateMetrics, [`${dumpsCompact(metrics, { indent: 2 })}\n`]);
  await writeFileAtomically(paths.statistics, [`${dumpsCompact(statistics, { indent: 2 })}\n`]);
}
