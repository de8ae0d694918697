import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  unlisted: [
    "judge_responses_create_params",
    "judge_response",
    "aa_lcr_version",
    "aa_lcr_dataset_revision",
    "aa_lcr_judge_protocol",
  ],
};
