import { callServer, type ServerClient } from "../client/server-client.ts";
import { type AggregateMetrics, aggregateMetrics } from "../metrics/aggregate.ts";
import { type Coverage, CoverageCounter } from "../metrics/coverage.ts";
import { RolloutTable } from "../metrics/rollout-table.ts";
import { type RunStatistics, runStatistics } from "../metrics/run-statistics.ts";
import { dumpsCompact } from "../python/json-dumps.ts";
import { aggregateEntry } from "./aggregate-entry.ts";
import type { ArtifactPaths } from "./artifact-paths.ts";
import { writeFileAtomically } from "./atomic-file.ts";
import { agentNameOf } from "./expand.ts";
import { readLineBatches } from "./jsonl-reader.ts";
import { type Row, readRows } from "./jsonl-rows.ts";
import { keyOfRow, materializedKey } from "./row-key.ts";

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
}

/**
 * Reads the results of a run and computes its metrics: the reference's through the agents' `/aggregate_metrics`, ours
 * (intervals, pass@k, coverage) beside them. Writes both files; without rows only coverage is known and nothing is written.
 */
export async function summarizeRun(options: {
  paths: Pick<
    ArtifactPaths,
    "output" | "failures" | "materializedInputs" | "aggregateMetrics" | "statistics"
  >;
  client: ServerClient;
  signal?: AbortSignal;
  onNotice: (text: string) => void;
}): Promise<RunSummary> {
  const { paths } = options;
  const coverage = new CoverageCounter();
  for await (const batch of readLineBatches(paths.materializedInputs)) {
    for (const line of batch) coverage.expect(keyRow(materializedKey(paths.materializedInputs, line)));
  }
  for await (const { row } of readRows(paths.failures, { skipBlank: true, onTornLine: () => {} })) {
    if (keyOfRow(row)) coverage.fail(row);
  }
  const rows = new Map<string, AgentRows>();
  for await (const { row } of readRows(paths.output, { onTornLine: () => {} })) {
    coverage.complete(row);
    const agent = agentNameOf(row) ?? "";
    let collected = rows.get(agent);
    if (!collected) {
      collected = new AgentRows();
      rows.set(agent, collected);
    }
    collected.add(row);
  }
  const agents = await Promise.all(
    [...rows].map(async ([agent, collected]) => ({
      agent,
      metrics: await metricsOf(agent, collected, options),
      statistics: runStatistics(collected.table),
    })),
  );
  const summary = { agents, coverage: coverage.result() };
  if (agents.length > 0) await writeSummary(summary, paths);
  return summary;
}

/** What is kept of an agent's rows: numbers always, small members while they fit. */
class AgentRows {
  readonly table = new RolloutTable();
  entries: Row[] | undefined = [];

  add(row: Row): void {
    this.table.add(row);
    if (!this.entries) return;
    this.entries.push(aggregateEntry(row));
    if (this.entries.length > MAX_ROWS_PER_REQUEST) this.entries = undefined;
  }
}

async function metricsOf(
  agent: string,
  rows: AgentRows,
  options: { client: ServerClient; signal?: AbortSignal; onNotice: (text: string) => void },
): Promise<AggregateMetrics> {
  if (!rows.entries) {
    options.onNotice(
      `${agent} has ${rows.table.size} rows, more than its servers can be asked about at once: metrics of its own are left out.`,
    );
    return {
      group_level_metrics: [],
      agent_metrics: rows.table.statistics(rows.table.allRows()),
      key_metrics: {},
    };
  }
  rows.entries.sort(byKey);
  try {
    const reply = await callServer(options.client, {
      server: agent,
      path: "/aggregate_metrics",
      body: { verify_responses: rows.entries },
      stage: "run",
      idempotent: true,
      ...(options.signal && { signal: options.signal }),
    });
    return reply.json() as AggregateMetrics;
  } catch (error) {
    // The rollouts are worth more than this: the default metrics need nobody else.
    options.onNotice(
      `${agent} could not aggregate its metrics (${(error as Error).message}); the default ones were computed here.`,
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
  { agents, coverage }: RunSummary,
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
    agents: agents.map(({ agent, statistics: own }) => ({ agent_ref: { name: agent }, ...own })),
  };
  await writeFileAtomically(paths.aggregateMetrics, [`${dumpsCompact(metrics, { indent: 2 })}\n`]);
  await writeFileAtomically(paths.statistics, [`${dumpsCompact(statistics, { indent: 2 })}\n`]);
}
