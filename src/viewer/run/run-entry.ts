import { stat } from "node:fs/promises";
import { isObject } from "../../base/python/json/door.ts";
import { type FoundRun, filesOf, parseRow, type RunFiles, readLines } from "../../records/files/door.ts";
import { type Coverage, clusteredMean, type Estimate, TaskTotals } from "../../records/metrics/door.ts";
import type { RunEntry, RunHead, RunState } from "../api-types.ts";
import type { RowColumns } from "../index/row-columns.ts";
import { RewardsByTask } from "./overview.ts";
import { type Progress, type RunInfo, readProgress, readRunInfo, readStatistics } from "./run-info.ts";
import type { ViewedRun } from "./viewed-run.ts";

/** A run with an older progress file is not running, regardless of its content. */
const STALE_MS = 15_000;

/** The description of an open run without counting its rows. */
export async function headOfRun(run: ViewedRun): Promise<RunHead> {
  const { columns } = run.rollouts;
  const progress = await readProgress(run.files.progress);
  const { bytes, mtimeMs } = run.rollouts.progress;
  const coverage = () => (run.indexing ? coverageOfProgress(progress) : run.coverage);
  return {
    id: run.id,
    name: run.id,
    path: run.copyOf ?? run.files.rollouts,
    ...aboutConfig(run.info, columns.agents.all, columns.models.all[0]),
    when: run.info.createdAt ?? new Date(mtimeMs).toISOString(),
    ...(await stateOf(run.files, progress, coverage, columns.length)),
    bytes,
  };
}

/** The list entry of an open run, from the rows read so far. */
export async function entryOfRun(run: ViewedRun): Promise<RunEntry> {
  const { columns } = run.rollouts;
  const progress = await readProgress(run.files.progress);
  return {
    ...(await headOfRun(run)),
    reward: meanOf(columns),
    coverage: (await coverageNow(run.files, run.coverage, progress)).coverage,
    cost: progress?.spent || progress?.cost || costOf(columns),
  };
}

/** The list entry of a run that is not open, from the small files next to its rollouts. */
export async function entryOfFiles({ id, rollouts }: FoundRun): Promise<RunEntry> {
  const files = filesOf(rollouts);
  const [info, progress, written, entry] = await Promise.all([
    readRunInfo(files.manifest),
    readProgress(files.progress),
    readStatistics(files.statistics),
    stat(rollouts).catch(() => undefined),
  ]);
  // While a run goes on, its statistics are those of an earlier session.
  const statistics = (await isUnderWay(files.lock, progress)) ? undefined : written;
  const agents = Array.isArray(statistics?.["agents"])
    ? (statistics["agents"] as Record<string, unknown>[])
    : [];
  const names = agents.flatMap(({ agent_ref }) => (isObject(agent_ref) ? [String(agent_ref["name"])] : []));
  const coverage = isObject(statistics?.["coverage"])
    ? (statistics["coverage"] as unknown as Coverage)
    : coverageOfProgress(progress);
  const first = info.model === null ? await firstRow(files) : undefined;
  return {
    id,
    name: id,
    path: rollouts,
    ...aboutConfig(info, names.length > 0 ? names : (first?.agents ?? []), first?.model),
    when: info.createdAt ?? new Date(entry?.mtimeMs ?? 0).toISOString(),
    ...(await stateOf(files, progress, () => coverage, entry?.size ?? 0)),
    // Several agents have separate means; with one agent, its mean is that of the run.
    reward:
      agents.length === 1
        ? ((agents[0]?.["reward"] as Estimate | undefined) ?? null)
        : meanOfProgress(progress, agents),
    coverage,
    cost: progress?.spent || progress?.cost || null,
    bytes: entry?.size ?? 0,
  };
}

function aboutConfig(info: RunInfo, agents: readonly string[], answered: string | undefined) {
  const own = [...new Set(agents.flatMap((agent) => info.environments.get(agent) ?? []))];
  const environments = own.length > 0 ? own : [...new Set(info.environments.values())];
  const shown = environments.length > 2 ? `${environments.length} environments` : environments.join(", ");
  return {
    agents: [...agents],
    environment: shown === "" ? null : shown,
    model: info.model ?? answered ?? null,
  };
}

/** `coverage` is called only if the run is not running. */
async function stateOf(
  { lock }: RunFiles,
  progress: Progress | undefined,
  coverage: () => Coverage | null,
  content: number,
): Promise<{ state: RunState; failed: number }> {
  if (await isUnderWay(lock, progress)) return { state: "running", failed: 0 };
  if (content === 0) return { state: "empty", failed: 0 };
  // Without a manifest, only the progress file has the number of requested rollouts.
  const counted = isUnfinished(progress) ? null : coverage();
  return counted?.missing === 0 ? { state: "done", failed: counted.failed } : { state: "stopped", failed: 0 };
}

async function isUnderWay(lock: string, progress: Progress | undefined): Promise<boolean> {
  const updated = progress && Date.parse(String(progress.updated_at));
  const isFresh = updated !== undefined && Date.now() - updated < STALE_MS;
  // A run that ends removes its lock; a run that is killed stops writing its progress.
  return isFresh && isUnfinished(progress) && (await stat(lock).catch(() => undefined)) !== undefined;
}

function isUnfinished(progress: Progress | undefined): boolean {
  return (progress?.done ?? 0) < (progress?.total ?? 0) || (progress?.in_flight ?? 0) > 0;
}

/**
 * The coverage from the rows of a run. While the run is in progress, a rollout with only failed attempts may still be retried; the progress
 * file says how many are lost. Also the number of rollouts in flight; the progress file of a killed run still lists the last ones.
 */
export async function coverageNow(
  files: RunFiles,
  rows: Coverage,
  progress: Progress | undefined,
): Promise<{ coverage: Coverage; running: number }> {
  if (!(await isUnderWay(files.lock, progress))) return { coverage: rows, running: 0 };
  const failed = Math.min(rows.failed, progress?.failed ?? rows.failed);
  const missing = rows.missing + rows.failed - failed;
  return { coverage: { ...rows, failed, missing }, running: progress?.in_flight ?? 0 };
}

function coverageOfProgress(progress: Progress | undefined): Coverage | null {
  if (progress?.total === undefined) return null;
  const { total, completed = 0, failed = 0 } = progress;
  return {
    expected: total,
    ok: completed,
    masked: 0,
    failed,
    missing: Math.max(0, total - completed - failed),
  };
}

function meanOfProgress(
  progress: Progress | undefined,
  agents: readonly Record<string, unknown>[],
): RunEntry["reward"] {
  const value = progress?.mean_reward;
  if (typeof value !== "number") return null;
  const interval = progress?.reward_interval;
  const [low, high] = Array.isArray(interval) ? interval : [null, null];
  const tasks = agents.map(({ reward }) => (isObject(reward) ? Number(reward["tasks"]) : 0));
  return {
    value,
    standard_error: null,
    low,
    high,
    tasks: agents.length === 0 ? null : tasks.reduce((sum, own) => sum + own, 0),
  };
}

const means = new WeakMap<RowColumns, { rows: number; value: Estimate | null }>();

/** Counted as in the overview: a task of two agents counts twice. Recomputed only when rows were added. */
function meanOf(columns: RowColumns): Estimate | null {
  const known = means.get(columns);
  if (known?.rows === columns.length) return known.value;
  const byAgent = new Map<number, RewardsByTask>();
  for (let row = 0; row < columns.length; row++) {
    const reward = columns.countedReward(row);
    if (Number.isNaN(reward)) continue;
    const agent = columns.agentId(row);
    const own = byAgent.get(agent) ?? new RewardsByTask(1);
    byAgent.set(agent, own);
    own.add(columns, row, reward);
  }
  const all = new TaskTotals(1);
  for (const { totals } of byAgent.values()) all.addTasks(totals);
  const value = all.tasks === 0 ? null : clusteredMean(all);
  means.set(columns, { rows: columns.length, value });
  return value;
}

function costOf(columns: RowColumns): number | null {
  let total: number | null = null;
  for (let row = 0; row < columns.length; row++) {
    const cost = columns.cost(row);
    if (!Number.isNaN(cost)) total = (total ?? 0) + cost;
  }
  return total;
}

/** Agent and model of the first row, if no manifest has them. */
async function firstRow(
  files: RunFiles,
): Promise<{ agents: string[]; model: string | undefined } | undefined> {
  try {
    for await (const line of readLines(files.rollouts)) {
      const row = parseRow(files.rollouts, line);
      const response = isObject(row["response"]) ? row["response"] : {};
      const agent = isObject(row["agent_ref"]) ? row["agent_ref"]["name"] : undefined;
      return {
        agents: typeof agent === "string" ? [agent] : [],
        model: typeof response["model"] === "string" ? response["model"] : undefined,
      };
    }
  } catch {
    // The list contains all runs, including those whose rows cannot be read.
  }
  return undefined;
}
