import {
  bootstrapMean,
  clusteredMean,
  type Estimate,
  type PassEstimates,
  passEstimates,
} from "./intervals.ts";
import type { RolloutTable, TaskSlice } from "./rollout-table.ts";
import { TaskTotals } from "./task-totals.ts";

/** The content of the statistics file in addition to the reference's metrics. */
export interface RunStatistics {
  rollouts: number;
  tasks: number;
  /** Mean reward with the error clustered by task and Student's interval. */
  reward: Estimate;
  /** The same mean with the percentile interval of the cluster bootstrap. */
  reward_bootstrap: Estimate;
  pass: PassEstimates[];
  pass_threshold: number;
  /** Whether all rewards are in [0, 1]. In another range, a reward of 1 need not be a success. */
  is_unit: boolean;
}

/** A rollout passes when its reward reaches this. */
const PASS_THRESHOLD = 1;

/** The rewards of every task with rewards. */
export function rewardsByTask(table: RolloutTable): Map<number, number[]> {
  const tasks = new Map<number, number[]>();
  for (const task of table.tasks()) {
    const rewards = rewardsOf(table, task);
    if (rewards.length > 0) tasks.set(task.taskIndex, rewards);
  }
  return tasks;
}

function rewardsOf(table: RolloutTable, { rows }: TaskSlice, except?: ReadonlySet<number>): number[] {
  const rewards: number[] = [];
  for (const row of rows) {
    const reward = except?.has(row) ? undefined : table.reward(row);
    if (reward !== undefined) rewards.push(reward);
  }
  return rewards;
}

/**
 * Mean reward, pass@k and pass^k with their uncertainty; undefined when no rollout has a reward. The rewards of the rows
 * in `except` do not count (`mask_sample`).
 */
export function runStatistics(table: RolloutTable, except?: ReadonlySet<number>): RunStatistics | undefined {
  const totals = new TaskTotals(PASS_THRESHOLD);
  for (const task of table.tasks()) totals.add(rewardsOf(table, task, except));
  if (totals.tasks === 0) return undefined;
  return {
    rollouts: totals.rollouts,
    tasks: totals.tasks,
    reward: clusteredMean(totals),
    reward_bootstrap: bootstrapMean(totals),
    pass: passEstimates(totals),
    pass_threshold: PASS_THRESHOLD,
    is_unit: totals.isUnit,
  };
}
