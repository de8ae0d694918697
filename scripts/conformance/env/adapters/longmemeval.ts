import type { Adapter } from "../adapters.ts";

/** A judge that fails scores 0 in the original. Ours fails the rollout unless a config key says so, and reads verdicts more strictly. */
export const adapter: Adapter = {
  config: () => ({ failed_judge_scores_zero: true, any_yes_counts: true, judge_retry_base_delay: 0 }),
};
