import { existsSync } from "node:fs";
import { callServer, type ServerClient } from "../client/server-client.ts";
import { errorMessage } from "../errors.ts";
import { type AggregateMetrics, aggregateMetrics } from "../metrics/aggregate.ts";
import { type Coverage, CoverageCounter } from "../metrics/coverage.ts";
import { RolloutTable } from "../metrics/rollout-table.ts";
import { type RunStatistics, runStatistics } from "../metrics/run-statistics.ts";
import { dumpsCompact } from "../python/json-dumps.ts";
import { isTruthy } from "../python/truth.ts";
import { aggregateEntry } from "./aggregate-entry.ts";
import type { ArtifactPaths } from "./artifact-paths.ts";
import { writeFileAtomically } from "./atomic-file.ts";
import { agentNameOf } from "./expand.ts";
import { readLineBatches } from "./jsonl-reader.ts";
import { type Row, readRows } from "./jsonl-rows.ts";
import { keyOfRow, materializedKey } from "./row-key.ts";
import { type TurnBoundaries, TurnBoundaryCounter } from "./turn-boundaries.ts";

/** Beyond this many rows of one agent its servers are not asked: the request would not fit in memory. */
const MAX_ROWS_PER_REQUEST = 250_000;

export interface AgentSummary {
  agent: string;
  metrics: AggregateMetrics;
  statistics: RunStatistics | undefined;
}

export interface RunSummary {
  agents: AgentSummary[];
  coverage: Coverage;
  /** How turns continue the tokens before them; null when no rollout has token ids. */
  turnBoundaries: TurnBoundaries | null;
}

export interface SummarizeOptions {
  /** Files of rollouts: the output of a run, or its shards. */
  rollouts: readonly string[];
  /** Sidecars that say how much of the run there is; those that do not exist are passed over. */
  failures: readonly string[];
  materializedInputs: readonly string[];
  /** Rollouts that were asked for, where no file says so. */
  expected?: Iterable<readonly [taskIndex: number, rolloutIndex: number]>;
  /** Where the metrics go. */
  targets: Pick<ArtifactPaths, "aggregateMetrics" | "statistics">;
  /** Who is asked for the metrics of an agent; without it the default ones are computed here. */
  metricsFrom?: { client: ServerClient; serverOf?: (agent: string) => string } | undefined;
  signal?: AbortSignal;
  onNotice: (text: string) => void;
}

/** Summarises a run that has just ended; see `summarize`. */
export function summarizeRun(options: {
  paths: Pick<
    ArtifactPaths,
    "output" | "failures" | "materializedInputs" | "aggregateMetrics" | "statistics"
  >;
  client: ServerClient;
  signal?: AbortSignal;
  onNotice: (text: string) => void;
}): Promise<RunSummary> {
  const { paths, client, ...rest } = options;
  return summarize({
    rollouts: [paths.output],
    failures: [paths.failures],
    materializedInputs: [paths.materializedInputs],
    targets: paths,
    metricsFrom: { client },
    ...rest,
  });
}

/**
 * Reads the results of a run and computes its metrics: the reference's through the servers' `/aggregate_metrics`, ours
 * (intervals, pass@k, coverage) beside them. Writes both files; without rows only coverage is known and nothing is written.
 */
export async function summarize(options: SummarizeOptions): Promise<RunSummary> {
  const coverage = await coverageOf(options);
  const boundaries = new TurnBoundaryCounter();
  const rows = new Map<string, AgentRows>();
  for (const path of options.rollouts) {
    for await (const { row } of readRows(path, { ...reading(options), onTornLine: () => {} })) {
      coverage.complete(row);
      boundaries.add(row);
      const agent = agentNameOf(row) ?? "";
      let collected = rows.get(agent);
      if (!collected) {
        collected = new AgentRows();
        rows.set(agent, collected);
      }
      collected.add(row);
    }
  }
  const agents = await Promise.all(
    [...rows].map(async ([agent, collected]) => ({
      agent,
      metrics: await metricsOf(agent, collected, options),
      statistics: runStatistics(collected.table, { except: collected.masked }),
    })),
  );
  const summary = { agents, coverage: coverage.result(), turnBoundaries: boundaries.counts };
  if (agents.length > 0) await writeSummary(summary, options.targets);
  return summary;
}

/** What was asked for and what failed, before the rollouts themselves are counted. */
export async function coverageOf(
  options: Pick<SummarizeOptions, "failures" | "materializedInputs" | "expected" | "signal">,
): Promise<CoverageCounter> {
  const coverage = new CoverageCounter();
  for (const [taskIndex, rolloutIndex] of options.expected ?? [])
    coverage.expect(keyRow({ taskIndex, rolloutIndex }));
  for (const path of options.materializedInputs.filter((file) => existsSync(file))) {
    for await (const batch of readLineBatches(path, reading(options))) {
      for (const line of batch) coverage.expect(keyRow(materializedKey(path, line)));
    }
  }
  for (const path of options.failures.filter((file) => existsSync(file))) {
    const lenient = { ...reading(options), skipBlank: true, onTornLine: () => {} };
    for await (const { row } of readRows(path, lenient)) if (keyOfRow(row)) coverage.fail(row);
  }
  return coverage;
}

function reading({ signal }: { signal?: AbortSignal }): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** What is kept of an agent's rows: numbers always, small members while they fit. */
class AgentRows {
  readonly table = new RolloutTable();
  /** Numbers of the rows whose reward does not count. */
  readonly masked = new Set<number>();
  entries: Row[] | undefined = [];

  add(row: Row): void {
    if (isTruthy(row["mask_sample"])) this.masked.add(this.table.size);
    this.table.add(row);
    if (!this.entries) return;
    this.entries.push(aggregateEntry(row));
    if (this.entries.length > MAX_ROWS_PER_REQUEST) this.entries = undefined;
  }
}

async function metricsOf(
  agent: string,
  rows: AgentRows,
  { metricsFrom, signal, onNotice }: SummarizeOptions,
): Promise<AggregateMetrics> {
  if (!rows.entries) {
    onNotice(
      `${agent} has ${rows.table.size} rows, more than its servers can be asked about at once: metrics of its own are left out.`,
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
      ...(signal && { signal }),
    });
    return reply.json() as AggregateMetrics;
  } catch (error) {
    signal?.throwIfAborted();
    // The rollouts are worth more than this: the default metrics need nobody else.
    onNotice(
      `${agent} could not aggregate its metrics (${errorMessage(error)}); the default ones were computed here.`,
    );
    return aggregateMetrics(rows.entries);
  }
}

function byKey(a: Row, b: Row): number {
  const task = Number(a["_ng_task_index"]) - Number(b["_ng_task_index"]);
  return task !== 0 ? task : Number(a["_ng_rollout_index"]) - Number(b["_ng_rollout_index"]);
}

const keyRow = ({ taskIndex, rolloutIndex }: { taskIndex: number; rolloutIndex: number }): Row => ({
  _ng_task_index: taskIndex,
  _ng_rollout_index: rolloutIndex,
});

async function writeSummary(
  { agents, coverage, turnBoundaries }: RunSummary,
  paths: Pick<ArtifactPaths, "aggregateMetrics" | "statistics">,
): Promise<void> {
  const metrics = agents.map(({ agent, metrics: { agent_metrics, key_metrics, group_level_metrics } }) => ({
    agent_ref: { name: agent },
    agent_metrics,
    key_metrics,
    group_level_metrics,
  }));
  const statistics = {
    coverage,
    ...(turnBoundaries && { turn_boundaries: turnBoundaries }),
    agents: agents.map(({ agent, statistics: own }) => ({ agent_ref: { name: agent }, ...own })),
  };
  await writeFileAtomically(paths.aggregateMetrics, [`${dumpsCompact(metrics, { indent: 2 })}\n`]);
  await writeFileAtomically(paths.statistics, [`${dumpsCompact(statistics, { indent: 2 })}\n`]);
}
