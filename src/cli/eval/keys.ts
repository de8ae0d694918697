import type { KeyTable } from "../config-keys.ts";

/** Keys of every collection, with servers started or not. */
export const collectionKeys = {
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    help: "where results go; results/<agent>/<time>/rollouts.jsonl when absent",
  },
  input_jsonl_fpath: { type: "str", help: "rows to run; the config's example data when absent" },
  agent_name: { type: "str", help: "agent for rows that name none; found by itself when there is only one" },
  limit: { type: "int", help: "input lines to take, before repeats" },
  num_repeats: { type: "any", help: "rollouts per row, or a map from agent to number with _default" },
  num_repeats_add_seed: { type: "bool", default: false, help: "give every repeat a seed of its own" },
  num_samples_in_parallel: { type: "int", help: "rollouts at once; automatic when absent" },
  resume_from_cache: { type: "bool", default: false, help: "go on with an interrupted run" },
  prompt_config: { type: "str", help: "prompt template that makes the input of each row" },
  skills: { type: "dict", help: "skills.path: a directory of skills offered to the agent" },
  responses_create_params: { type: "dict", help: "fields that replace those of every row" },
  disable_aggregation: { type: "bool", default: false, help: "collect only, compute no metrics" },
  rollout_timeout_seconds: { type: "float", default: 7200, help: "time limit of one rollout; null lifts it" },
  run_timeout_seconds: { type: "float", help: "time limit of the whole collection" },
  fsync: {
    type: "str",
    choices: ["never", "interval", "always"],
    default: "interval",
    help: "when results are forced onto the disk",
  },
  upload_rollouts: { type: "bool", default: true, help: "send rollouts to exporters" },
} as const satisfies KeyTable;

/** Further keys when the servers are started by the command. */
export const servingKeys = {
  split: {
    type: "str",
    choices: ["train", "validation", "benchmark"],
    help: "collate the config's datasets and run this split",
  },
  reuse_existing_data_preparation: {
    type: "bool",
    default: false,
    help: "skip collation when its result is there",
  },
  rollout_collection_driver: {
    type: "str",
    help: "module:function that collects instead of the built-in loop",
  },
} as const satisfies KeyTable;
