import { runKeys } from "../../run/settings.ts";
import { type KeyTable, text } from "../config-keys.ts";
import { skills } from "../eval/skills-key.ts";

const {
  agent_name,
  check_rows,
  prompt_config,
  num_samples_in_parallel,
  responses_create_params,
  rollout_timeout_seconds,
} = runKeys;

/** Config keys of `gym optimize` that are also those of a run. */
export const optimizeKeys = {
  input_jsonl_fpath: text(
    { name: "input", short: "i", metavar: "FILE" },
    "rows to divide into the splits; the config's example data when absent",
  ),
  agent_name,
  prompt_config,
  num_samples_in_parallel,
  responses_create_params,
  rollout_timeout_seconds,
  check_rows,
  skills,
} as const satisfies KeyTable;
