import type { Adapter } from "../adapters.ts";

/** A judge that fails is unclear in the original. Ours fails the rollout unless a config key says so. */
export const adapter: Adapter = { config: () => ({ failed_judge_is_unclear: true }) };
