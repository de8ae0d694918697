import { mean, sampleDeviation } from "./descriptive.ts";

/** What the older form of the reward profile adds to each task row. */
export interface TaskProfile {
  avg_reward: number;
  std_reward: number;
  min_reward: number;
  max_reward: number;
  total_samples: number;
  pass_rate?: number;
  pass_rate_total?: number;
  pass_rate_passed?: number;
  pass_threshold?: number;
}

/** Describes the rewards of one task (at least one); with a threshold also how many reach it. */
export function taskProfile(rewards: readonly number[], passThreshold?: number): TaskProfile {
  const profile: TaskProfile = {
    avg_reward: mean(rewards),
    std_reward: rewards.length > 1 ? sampleDeviation(rewards) : 0,
    min_reward: rewards.reduce((least, reward) => Math.min(least, reward), Number.POSITIVE_INFINITY),
    max_reward: rewards.reduce((most, reward) => Math.max(most, reward), Number.NEGATIVE_INFINITY),
    total_samples: rewards.length,
  };
  if (passThreshold === undefined) return profile;
  const passed = rewards.filter((reward) => reward >= passThreshold).length;
  return {
    ...profile,
    pass_rate: passed / rewards.length,
    pass_rate_total: rewards.length,
    pass_rate_passed: passed,
    pass_threshold: passThreshold,
  };
}
