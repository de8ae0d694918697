import type { Estimate } from "./intervals.ts";

/** What a reader of an interval must know in addition. `missing` is the number of rollouts that the run lacks. */
export function intervalCaveats(figures: {
  reward: Estimate | null;
  pass: readonly unknown[];
  missing: number;
}): string[] {
  const { reward, pass, missing } = figures;
  const caveats: string[] = [];
  if (missing > 0 && pass.length > 0)
    caveats.push("Rewards are means over rollouts, pass@k over tasks; some tasks have fewer rollouts.");
  // An interval of zero width does not mean certainty.
  if (reward !== null && reward.low !== null && reward.low === reward.high)
    caveats.push(
      `All ${reward.tasks} tasks have the same result, so the interval has no width. It says nothing about other tasks.`,
    );
  return caveats;
}
