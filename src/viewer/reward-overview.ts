import type { Overview, TaskEntry } from "./api-types.ts";
import type { RolloutFile } from "./rollout-file.ts";
import type { RowQuery } from "./row-query.ts";
import { countedReward, isFailureRow, rowOf } from "./select-rows.ts";

const MAX_BINS = 20;

interface Files {
  rollouts: RolloutFile;
  failures: RolloutFile;
}

/** Mean, passes and distribution of the rewards of the rows selected. */
export function rewardOverview(
  files: Files,
  selected: Int32Array,
  passThreshold: number,
): Omit<Overview, "version"> {
  const rewards: number[] = [];
  let sum = 0;
  let passed = 0;
  let failed = 0;
  let masked = 0;
  for (const code of selected) {
    const { columns } = isFailureRow(code) ? files.failures : files.rollouts;
    const row = rowOf(code);
    if (columns.failure.at(row) !== 0) failed++;
    else if (columns.masked(row)) masked++;
    const reward = countedReward(columns, row);
    if (Number.isNaN(reward)) continue;
    rewards.push(reward);
    sum += reward;
    if (reward >= passThreshold) passed++;
  }
  return {
    rewarded: rewards.length,
    mean: rewards.length === 0 ? null : sum / rewards.length,
    passed,
    failed,
    masked,
    pass_threshold: passThreshold,
    bins: binsOf(rewards),
  };
}

/** Bars of equal width over the range of the rewards, which always holds 0 and 1 when they lie between. */
export function binsOf(rewards: readonly number[]): Overview["bins"] {
  if (rewards.length === 0) return [];
  let from = rewards[0] ?? 0;
  let to = from;
  for (const reward of rewards) {
    if (reward < from) from = reward;
    if (reward > to) to = reward;
  }
  if (from >= 0 && to <= 1) [from, to] = [0, 1];
  if (from === to) to = from + 1;
  const width = (to - from) / MAX_BINS;
  const counts = new Array<number>(MAX_BINS).fill(0);
  for (const reward of rewards) {
    const bin = Math.min(MAX_BINS - 1, Math.floor((reward - from) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, bin) => ({ from: from + bin * width, to: from + (bin + 1) * width, count }));
}

/** Every task of the rows selected with its passes, by number or by mean reward; tasks without one come last. */
export function taskEntries(
  files: Files,
  selected: Int32Array,
  query: Pick<RowQuery, "sort" | "order" | "pass_threshold">,
): TaskEntry[] {
  const tasks = new Map<number, TaskEntry & { sum: number }>();
  for (const code of selected) {
    const { columns } = isFailureRow(code) ? files.failures : files.rollouts;
    const row = rowOf(code);
    const task = columns.task.at(row);
    if (Number.isNaN(task)) continue;
    let entry = tasks.get(task);
    if (entry === undefined) {
      entry = {
        task,
        rollouts: 0,
        failed: 0,
        rewarded: 0,
        passed: 0,
        mean: null,
        min: null,
        max: null,
        sum: 0,
      };
      tasks.set(task, entry);
    }
    if (columns.failure.at(row) !== 0) entry.failed++;
    else entry.rollouts++;
    const reward = countedReward(columns, row);
    if (Number.isNaN(reward)) continue;
    entry.rewarded++;
    entry.sum += reward;
    if (reward >= query.pass_threshold) entry.passed++;
    entry.min = Math.min(entry.min ?? reward, reward);
    entry.max = Math.max(entry.max ?? reward, reward);
  }
  const entries = [...tasks.values()]
    .sort((a, b) => a.task - b.task)
    .map(({ sum, ...entry }) => ({ ...entry, mean: entry.rewarded === 0 ? null : sum / entry.rewarded }));
  if (query.sort === "reward") {
    const direction = query.order === "asc" ? 1 : -1;
    const key = ({ mean }: TaskEntry) => (mean === null ? Number.POSITIVE_INFINITY : mean * direction);
    return entries.sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
  }
  return query.order === "asc" ? entries : entries.reverse();
}
