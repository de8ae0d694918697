import type { Adapter } from "../adapters.ts";

/** A failed judge is a failure of the rollout here; the fixtures count it as an error of the constraint only. */
export const adapter: Adapter = {
  unlisted: ["_ng_failure_class", "_ng_failure_judge_error"],
  ignore: ["mask_sample", "failure_kind", "failure_reason"],
};
