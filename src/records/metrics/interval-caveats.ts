import type { Estimate } from "./intervals.ts";

/** What a reader of an interval must know in addition. `unscored` is the number of rollouts of the run without a reward. */
export function intervalCaveats(figures: {
  reward: Estimate | null;
  pass: readonly unknown[];
  is_unit: boolean;
  pass_threshold: number;
  unscored: number;
}): string[] {
  const { reward, pass, is_unit, pass_threshold, unscored } = figures;
  const caveats: string[] = [];
  if (!is_unit)
    caveats.push(
      `Some rewards are outside of 0 to 1. ${pass.length > 0 ? `pass@k counts a reward of ${pass_threshold} or more as a success` : `There is no pass@k, because a reward of ${pass_threshold} need not be a success`}.`,
    );
  if (unscored > 0 && pass.length > 0)
    caveats.push(
      "Some rollouts have no reward. The mean is over rollouts, pass@k over the tasks with at least k scored rollouts, so they need not agree.",
    );
  // An interval of zero width does not mean certainty.
  if (reward !== null && reward.low !== null && reward.low === reward.high)
    caveats.push(
      `All ${reward.tasks} tasks have the same result, so the interval has no width. It says nothing about other tasks.`,
    );
  return caveats;
}
