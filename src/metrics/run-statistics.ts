import {
  bootstrapMean,
  clusteredMean,
  type Estimate,
  type PassEstimates,
  passEstimates,
} from "./intervals.ts";
import type { RolloutTable } from "./rollout-table.ts";

/** What the statistics file says beside the reference's metrics. */
export interface RunStatistics {
  rollouts: number;
  tasks: number;
  /** Mean reward with the error clustered by task and Student's interval. */
  reward: Estimate;
  /** The same mean with the percentile interval of the cluster bootstrap. */
  reward_bootstrap: Estimate;
  pass: PassEstimates[];
  pass_threshold: number;
}

export interface RunStatisticsOptions {
  passThreshold?: number;
  seed?: number;
  level?: number;
  /** Rows of the table whose reward does not count (`mask_sample`). */
  except?: ReadonlySet<number>;
}

/** The rewards of every task that has any; `except` are rows of the table whose reward does not count. */
export function rewardsByTask(table: RolloutTable, except?: ReadonlySet<number>): Map<number, number[]> {
  const tasks = new Map<number, number[]>();
  for (const { taskIndex, rows } of table.tasks()) {
    const rewards: number[] = [];
    for (const row of rows) {
      const reward = except?.has(row) ? undefined : table.reward(row);
      if (reward !== undefined) rewards.push(reward);
    }
    if (rewards.length > 0) tasks.set(taskIndex, rewards);
  }
  return tasks;
}

/** Mean reward, pass@k and pass^k with their uncertainty; undefined when no rollout has a reward. */
export function runStatistics(
  table: RolloutTable,
  options: RunStatisticsOptions = {},
): RunStatistics | undefined {
  const tasks = [...rewardsByTask(table, options.except).values()];
  if (tasks.length === 0) return undefined;
  const threshold = options.passThreshold ?? 1;
  const level = options.level === undefined ? {} : { level: options.level };
  return {
    rollouts: tasks.reduce((sum, task) => sum + task.length, 0),
    tasks: tasks.length,
    reward: clusteredMean(tasks, level),
    reward_bootstrap: bootstrapMean(tasks, { ...level, seed: options.seed ?? 0 }),
    pass: passEstimates(tasks, { ...level, threshold }),
    pass_threshold: threshold,
  };
}
