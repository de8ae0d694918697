import type { KeyTable } from "../config-keys.ts";

/** Keys about the health check of rollouts that were just written. */
const healthKeys = {
  disable_health_check: { type: "bool", default: false, help: "do not check the rollouts in the end" },
  health_check_workers: {
    type: "int",
    minimum: 1,
    computed: true,
    help: "threads of the health check; one for each core, at most 8, when absent",
  },
  health_check_ignored_checks: { type: "any", help: "ids of health checks to leave out, as a list" },
} as const satisfies KeyTable;

/** Keys of every collection, with servers started or not. */
export const collectionKeys = {
  ...healthKeys,
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    help: "where results go; results/<agent>/<time>/rollouts.jsonl when absent",
  },
  input_jsonl_fpath: { type: "str", help: "rows to run; the config's example data when absent" },
  agent_map: { type: "dict", help: "agents that run the rows of others: a map from names in rows to agents" },
  agent_name: { type: "str", help: "agent for rows that name none; found by itself when there is only one" },
  limit: { type: "int", minimum: 0, help: "input lines to take, before repeats; 0 takes all" },
  num_repeats: { type: "any", help: "rollouts per row, or a map from agent to number with _default" },
  num_repeats_add_seed: { type: "bool", default: false, help: "give every repeat a seed of its own" },
  num_samples_in_parallel: { type: "int", minimum: 0, help: "rollouts at once; automatic when absent or 0" },
  resume_from_cache: { type: "bool", default: false, help: "go on with an interrupted run" },
  retry_failed: {
    type: "bool",
    default: false,
    help: "with resume: run failed rollouts again, however often they were tried",
  },
  prompt_config: { type: "str", help: "prompt template that makes the input of each row" },
  skills: { type: "dict", help: "skills.path: a directory of skills offered to the agent" },
  responses_create_params: { type: "dict", help: "fields that replace those of every row" },
  disable_aggregation: { type: "bool", default: false, help: "collect only, compute no metrics" },
  check_rows: {
    type: "bool",
    default: true,
    help: "check rows against the schema and tools of their environment before the first model call",
  },
  fail_under: { type: "float", help: "exit with 3 when the mean reward of an agent is lower" },
  min_coverage: {
    type: "float",
    minimum: 0,
    help: "exit with 3 when a smaller share of the rollouts was scored",
  },
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

/** Keys of `eval aggregate`. */
export const aggregateKeys = {
  input_glob: {
    type: "str",
    required: true,
    help: "shell patterns of the rollout files, separated by commas",
  },
  output_jsonl_fpath: { type: "str", required: true, help: "where the merged rollouts go" },
  merge_shards: { type: "bool", default: true, help: "write the merged rollouts; metrics come in any case" },
  ...healthKeys,
} as const satisfies KeyTable;

/** Keys of `eval profile`. */
export const profileKeys = {
  materialized_inputs_jsonl_fpath: { type: "str", required: true, help: "materialized inputs of the run" },
  rollouts_jsonl_fpath: { type: "str", required: true, help: "rollouts of the run" },
  allow_partial_rollouts: {
    type: "bool",
    default: false,
    help: "profile what there is although some inputs have no rollout",
  },
  pass_threshold: { type: "float", default: 1, help: "reward from which a rollout passes" },
} as const satisfies KeyTable;

/** Keys of its older form, `ng_profile`. */
export const taskProfileKeys = {
  input_jsonl_fpath: { type: "str", required: true, help: "the task rows that were rolled out" },
  rollouts_jsonl_fpath: { type: "str", required: true, help: "rollouts of these tasks" },
  output_jsonl_fpath: { type: "str", required: true, help: "where the task rows with their profile go" },
  pass_threshold: { type: "float", help: "reward from which a rollout passes; without it no pass rates" },
} as const satisfies KeyTable;

/** Keys of `eval export`. */
export const exportKeys = {
  rollouts_jsonl_fpath: { type: "str", required: true, help: "rollouts to export" },
  materialized_inputs_jsonl_fpath: {
    type: "str",
    computed: true,
    help: "task rows for verl and nemo-rl; the file beside the rollouts when absent",
  },
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    help: "where the export goes; <rollouts>_<format> when absent",
  },
  format: {
    type: "str",
    required: true,
    choices: [
      "sft",
      "dpo",
      "chat",
      "trl",
      "verl",
      "nemo-rl",
      "skyrl",
      "prime-rl",
      "art",
      "atif",
      "calls",
      "csv",
      "parquet",
    ],
    help: "what to write",
  },
  output_dirpath: { type: "str", help: "atif: a new directory for the trajectories" },
  session_id: { type: "str", help: "atif: the session that the trajectories belong to" },
  agent_version: { type: "str", help: "atif: version of the agent that made them" },
  tokens: { type: "bool", default: false, help: "trl, verl, nemo-rl: training sequences of token ids" },
  token_drift: {
    type: "str",
    choices: ["fork", "truncate", "strict"],
    default: "fork",
    help: "calls that do not continue each other: several sequences, the first one, or an invalid row",
  },
  verify_tokens: { type: "bool", default: false, help: "read the export back and compare its token ids" },
  reward_min: { type: "float", help: "only rollouts with at least this reward" },
  reward_max: { type: "float", help: "only rollouts with at most this reward" },
  pass_rate_min: { type: "float", help: "only tasks of which at least this share passes" },
  pass_rate_max: { type: "float", help: "only tasks of which at most this share passes" },
  pass_threshold: { type: "float", default: 1, help: "reward from which a rollout passes" },
  best_of: { type: "int", minimum: 1, help: "only so many best rollouts of each task" },
  include_masked: { type: "bool", default: false, help: "take rows marked mask_sample too" },
  label: { type: "str", help: "only rollouts with this label, as given in the viewer" },
  include_excluded: { type: "bool", default: false, help: "take rollouts excluded in the viewer too" },
  complete_groups: {
    type: "bool",
    default: false,
    help: "only tasks of which all repeats are there and not left out",
  },
  health: {
    type: "str",
    choices: ["any", "not-unhealthy", "healthy"],
    default: "any",
    help: "only rollouts with such a verdict of the health check",
  },
  health_check_ignored_checks: healthKeys.health_check_ignored_checks,
  pairs: {
    type: "str",
    choices: ["best-worst", "all"],
    default: "best-worst",
    help: "dpo: which rollouts of a task become pairs",
  },
  min_margin: { type: "float", help: "dpo: least difference of the rewards of a pair" },
  max_pairs_per_task: { type: "int", minimum: 1, default: 8, help: "dpo: most pairs of one task" },
  reasoning: {
    type: "str",
    choices: ["think", "drop"],
    default: "think",
    help: "reasoning as <think> blocks, or left out",
  },
} as const satisfies KeyTable;

/** Keys of `eval compare`. */
export const compareKeys = {
  match: {
    type: "str",
    choices: ["auto", "index", "content"],
    default: "auto",
    help: "what makes two tasks the same",
  },
  pass_threshold: { type: "float", default: 0.5, help: "mean reward from which a task passes" },
  show: { type: "int", minimum: 0, default: 20, help: "flipped tasks to list" },
  fail_on_regression: {
    type: "bool",
    default: false,
    help: "exit with 3 when B is significantly worse than A",
  },
  max_drop: { type: "float", minimum: 0, help: "exit with 3 when the mean reward drops by more" },
} as const satisfies KeyTable;

/** Keys of `eval reverify`. */
export const reverifyKeys = {
  materialized_inputs_jsonl_fpath: { type: "str", required: true, help: "materialized inputs of the run" },
  rollouts_jsonl_fpath: { type: "str", required: true, help: "stored rollouts" },
  output_jsonl_fpath: { type: "str", required: true, help: "where the rollouts with new scores go" },
  force: { type: "bool", default: false, help: "also with servers that are not declared safe" },
  overwrite: { type: "bool", default: false, help: "delete results that are already there" },
  resume_from_cache: { type: "bool", default: false, help: "go on with an interrupted run" },
  judge_failed_only: {
    type: "bool",
    default: false,
    help: "recover the rollouts whose judge could not be asked; take over the others",
  },
  append: { type: "bool", default: false, help: "with judge_failed_only: add to an existing output" },
  num_samples_in_parallel: {
    type: "int",
    minimum: 1,
    help: "rollouts at once; automatic when absent",
  },
  limit: { type: "int", minimum: 1, help: "at most so many rollouts" },
  disable_aggregation: { type: "bool", default: false, help: "compute no metrics" },
  rollout_timeout_seconds: { type: "float", default: 7200, help: "time limit of one verification" },
} as const satisfies KeyTable;

/** Keys of `eval view`. */
export const viewKeys = {
  jsonl_fpath: { type: "str", help: "rollouts file, directory, pattern or address; results when absent" },
  server_host: { type: "str", default: "127.0.0.1", help: "address to listen on; 0.0.0.0 for everyone" },
  server_port: {
    type: "int",
    minimum: 0,
    maximum: 65535,
    default: 7860,
    help: "port to listen on; the next free one if taken",
  },
} as const satisfies KeyTable;
