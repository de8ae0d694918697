import {
  DEFAULT_MAX_PAIRS,
  EXPORT_FORMATS,
  HEALTH_FILTERS,
  PAIR_SELECTIONS,
} from "../../records/results/export/export-filters.ts";
import {
  choice,
  INPUT_FLAG,
  type KeyTable,
  OUTPUT_FLAG,
  requiredText,
  text,
  toggle,
} from "../config-keys.ts";

const INPUTS_FLAG = { name: "inputs", metavar: "FILE" } as const;
const ROLLOUTS_FLAG = { name: "rollouts", metavar: "FILE" } as const;

/** Keys of the health check after a run. */
const healthKeys = {
  disable_health_check: toggle(
    "do not run the health check (gym eval health-check) on the rollouts",
    "no-health-check",
  ),
  health_check_workers: {
    type: "int",
    minimum: 1,
    computed: true,
    flag: {},
    help: "threads of the health check; one for each core, at most 8, when absent",
  },
  health_check_ignored_checks: {
    type: "any",
    flag: { name: "health-check-ignore", metavar: "A,B", kind: "text" },
    help: "ids of health checks to skip, as a list or separated by commas",
  },
} as const satisfies KeyTable;

/** Keys of every collection, with or without starting servers. */
export const collectionKeys = {
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    flag: OUTPUT_FLAG,
    help: "where results go; results/<agent>/<time>/rollouts.jsonl when absent",
  },
  input_jsonl_fpath: text(INPUT_FLAG, "rows to run; the config's example data when absent"),
  agent_map: { type: "dict", help: "agents that run the rows of others: a map from names in rows to agents" },
  agent_name: text(
    { name: "agent", short: "a", metavar: "NAME" },
    "agent for rows that name none; optional when there is only one",
  ),
  limit: { type: "int", minimum: 0, flag: {}, help: "number of input lines to run, before repeats; 0: all" },
  num_repeats: {
    type: "any",
    flag: { metavar: "N" },
    help: "rollouts per row, or a map from agent to number with _default",
  },
  num_repeats_add_seed: { type: "bool", default: false, help: "give every repeat its own seed" },
  num_samples_in_parallel: {
    type: "int",
    minimum: 0,
    flag: { name: "concurrency" },
    help: "rollouts at once; automatic when absent or 0",
  },
  resume_from_cache: toggle("continue an interrupted run", "resume"),
  retry_failed: toggle("with --resume: run failed rollouts again, regardless of their number of attempts"),
  prompt_config: text({ metavar: "FILE" }, "prompt template that creates the input of each row"),
  skills: { type: "dict", help: "skills.path: a directory of skills offered to the agent" },
  responses_create_params: { type: "dict", help: "fields that replace those of every row" },
  disable_aggregation: toggle("collect only, compute no metrics"),
  check_rows: {
    type: "bool",
    default: true,
    help: "check rows against the schema and tools of their environment before the first model call",
  },
  fail_under: {
    type: "float",
    flag: { metavar: "REWARD" },
    help: "exit with 3 when the mean reward of an agent is lower",
  },
  min_coverage: {
    type: "float",
    minimum: 0,
    flag: { metavar: "SHARE" },
    help: "exit with 3 when a smaller share of the rollouts was scored (0 to 1)",
  },
  rollout_timeout_seconds: {
    type: "float",
    minimum: 0.001,
    default: 7200,
    help: "time limit of one rollout; null lifts it",
  },
  run_timeout_seconds: { type: "float", minimum: 0.001, help: "time limit of the whole collection" },
  fsync: {
    type: "str",
    choices: ["never", "interval", "always"],
    default: "interval",
    help: "when results are forced onto the disk",
  },
  upload_rollouts: { type: "bool", default: true, help: "send rollouts to exporters" },
  ...healthKeys,
} as const satisfies KeyTable;

/** Additional keys if the command starts the servers. */
export const servingKeys = {
  split: {
    type: "str",
    choices: ["train", "validation", "benchmark"],
    flag: {},
    help: "collate the config's datasets and run this split; with --benchmark: benchmark",
  },
  reuse_existing_data_preparation: {
    type: "bool",
    default: false,
    help: "skip collation if its result exists",
  },
  rollout_collection_driver: {
    type: "str",
    help: "module:function that collects instead of the built-in loop",
  },
} as const satisfies KeyTable;

/** Keys of `eval aggregate`. */
export const aggregateKeys = {
  input_glob: requiredText(
    { short: "i", metavar: "PATTERNS" },
    "shell patterns of the rollout files, separated by commas",
  ),
  output_jsonl_fpath: requiredText(
    OUTPUT_FLAG,
    "where the merged rollouts go; the metrics go to the same folder",
  ),
  merge_shards: {
    type: "bool",
    default: true,
    help: "write the merged rollouts; metrics are always written",
  },
  ...healthKeys,
} as const satisfies KeyTable;

const runInputsKey = {
  materialized_inputs_jsonl_fpath: requiredText(INPUTS_FLAG, "materialized inputs of the run"),
} as const satisfies KeyTable;

/** Keys of `eval profile`. */
export const profileKeys = {
  ...runInputsKey,
  rollouts_jsonl_fpath: requiredText(ROLLOUTS_FLAG, "rollouts of the run"),
  allow_partial_rollouts: {
    type: "bool",
    default: false,
    help: "profile the existing rollouts even if some inputs have none",
  },
  pass_threshold: {
    type: "float",
    default: 1,
    flag: { metavar: "REWARD" },
    help: "reward from which a rollout passes",
  },
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
  rollouts_jsonl_fpath: requiredText(ROLLOUTS_FLAG, "rollouts to export"),
  materialized_inputs_jsonl_fpath: {
    type: "str",
    computed: true,
    flag: INPUTS_FLAG,
    help: "task rows for verl and nemo-rl; those of the run when absent",
  },
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    flag: OUTPUT_FLAG,
    help: "where the export goes; <rollouts>_<format> when absent",
  },
  format: {
    type: "str",
    required: true,
    choices: EXPORT_FORMATS,
    flag: { short: "f" },
    help: "what to write",
  },
  output_dirpath: text({ name: "output-dir", metavar: "DIR" }, "atif: a new directory for the trajectories"),
  session_id: text({ metavar: "ID" }, "atif: the session that the trajectories belong to"),
  agent_version: text({ metavar: "VERSION" }, "atif: version of the agent"),
  tokens: toggle("trl, verl, nemo-rl: training sequences of token ids instead of texts and tasks"),
  token_drift: choice(
    ["fork", "truncate", "strict"],
    "fork",
    "calls that do not continue each other: several sequences, the first one, or an invalid row",
  ),
  verify_tokens: toggle("read the export back and compare its token ids with the rollouts"),
  reward_min: { type: "float", flag: {}, help: "only rollouts with at least this reward" },
  reward_max: { type: "float", flag: {}, help: "only rollouts with at most this reward" },
  pass_rate_min: { type: "float", flag: {}, help: "only tasks with at least this pass rate" },
  pass_rate_max: { type: "float", flag: {}, help: "only tasks with at most this pass rate" },
  pass_threshold: { type: "float", default: 1, flag: {}, help: "reward from which a rollout passes" },
  best_of: { type: "int", minimum: 1, flag: {}, help: "only the N best rollouts of each task" },
  include_masked: toggle("also export rows marked mask_sample"),
  label: text({ metavar: "LABEL" }, "only rollouts with this label, as given in `gym eval view`"),
  include_excluded: toggle("also export rollouts excluded in `gym eval view`"),
  complete_groups: toggle("only tasks whose repeats all exist and pass the filters"),
  health: choice(HEALTH_FILTERS, "any", "only rollouts with this verdict of the health check"),
  health_check_ignored_checks: healthKeys.health_check_ignored_checks,
  pairs: choice(PAIR_SELECTIONS, "best-worst", "dpo: which rollouts of a task become pairs"),
  min_margin: { type: "float", flag: {}, help: "dpo: smallest difference between the rewards of a pair" },
  max_pairs_per_task: {
    type: "int",
    minimum: 1,
    default: DEFAULT_MAX_PAIRS,
    flag: { name: "max-pairs" },
    help: "dpo: maximum number of pairs per task",
  },
  reasoning: choice(["think", "drop"], "think", "write reasoning as <think> blocks, or omit it"),
} as const satisfies KeyTable;

/** Keys of `eval compare`. */
export const compareKeys = {
  match: choice(
    ["auto", "index", "content"],
    "auto",
    "how to match tasks; auto: by the index if the inputs agree, else by the inputs",
  ),
  pass_threshold: { type: "float", default: 0.5, flag: {}, help: "mean reward from which a task passes" },
  show: { type: "int", minimum: 0, default: 20, flag: {}, help: "flipped tasks to list" },
  fail_on_regression: toggle("exit with 3 when B is significantly worse than A"),
  max_drop: {
    type: "float",
    minimum: 0,
    flag: {},
    help: "exit with 3 when the mean reward drops by more than X",
  },
} as const satisfies KeyTable;

/** Keys of `eval reverify`. */
export const reverifyKeys = {
  ...runInputsKey,
  rollouts_jsonl_fpath: requiredText(ROLLOUTS_FLAG, "stored rollouts"),
  output_jsonl_fpath: requiredText(OUTPUT_FLAG, "where the rollouts with new scores go"),
  force: toggle("also with servers that are not declared safe"),
  overwrite: toggle("delete existing results"),
  resume_from_cache: toggle("continue an interrupted run", "resume"),
  judge_failed_only: toggle("score only the rollouts whose judge could not be reached; copy the others"),
  append: toggle("with --judge-failed-only: add to an existing output"),
  num_samples_in_parallel: {
    type: "int",
    minimum: 1,
    flag: { name: "concurrency" },
    help: "rollouts at once; automatic when absent",
  },
  limit: { type: "int", minimum: 1, flag: {}, help: "at most N rollouts" },
  disable_aggregation: toggle("compute no metrics"),
  rollout_timeout_seconds: {
    type: "float",
    minimum: 0.001,
    default: 7200,
    help: "time limit of one verification",
  },
} as const satisfies KeyTable;

/** Keys of `eval view`. */
export const viewKeys = {
  jsonl_fpath: { type: "str", help: "rollouts file, directory, pattern or address; results when absent" },
  server_host: {
    type: "str",
    default: "127.0.0.1",
    flag: { name: "host", metavar: "HOST" },
    help: "address to listen on; 0.0.0.0 for everyone",
  },
  server_port: {
    type: "int",
    minimum: 0,
    maximum: 65535,
    default: 7860,
    flag: { name: "port", metavar: "PORT" },
    help: "port to listen on; the next free one if it is in use",
  },
} as const satisfies KeyTable;
