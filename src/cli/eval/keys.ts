import {
  DEFAULT_MAX_PAIRS,
  EXPORT_FORMATS,
  HEALTH_FILTERS,
  PAIR_SELECTIONS,
} from "../../records/results/export/export-filters.ts";
import { runKeys } from "../../run/settings.ts";
import {
  choice,
  INPUT_FLAG,
  type KeyTable,
  OUTPUT_FLAG,
  requiredText,
  text,
  toggle,
} from "../config-keys.ts";
import { skills } from "./skills-key.ts";

const INPUTS_FLAG = { name: "inputs", metavar: "FILE" } as const;
const ROLLOUTS_FLAG = { name: "rollouts", metavar: "FILE" } as const;

/** Keys about the calibration of judges. */
export const calibrationKeys = {
  judge_calibration: text(
    { name: "calibration", metavar: "FILE" },
    "calibration of the judge (gym judge calibrate); calibration.json next to the rollouts or in the environment's folder when absent",
  ),
  require_calibration: text(
    { metavar: "MEASURES" },
    "exit with 3 unless a calibration of this judge, prompt and parser has these least values, such as kappa=0.6,labels=100; measures: kappa, alpha, ac1, tpr, tnr, labels",
  ),
} as const satisfies KeyTable;

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

const {
  split,
  reuse_existing_data_preparation,
  agent_name,
  limit,
  num_repeats,
  repeat_order,
  num_repeats_add_seed,
  ...otherRunKeys
} = runKeys;

/** Keys of every collection, with or without starting servers. */
export const collectionKeys = {
  output_jsonl_fpath: {
    type: "str",
    computed: true,
    flag: OUTPUT_FLAG,
    help: "where results go; results/<agent>/<time>/rollouts.jsonl when absent",
  },
  input_jsonl_fpath: text(
    INPUT_FLAG,
    "rows to run, or a source that `gym dataset convert` reads (data.csv, hub:OWNER/NAME@SPLIT); the config's example data when absent",
  ),
  agent_map: {
    type: "dict",
    help: "agents that run the rows of others: a map from the agents or task sources of rows, or _default, to agents",
  },
  fan_out: {
    type: "dict",
    help: "agents that each run a copy of a row: a map from the agent or task source of rows to lists of agents",
  },
  agent_name,
  row_where: text(
    { name: "where", metavar: "CONDITION" },
    "run the rows that meet this condition on their fields, such as 'difficulty == \"hard\"'",
  ),
  row_ids: {
    type: "any",
    flag: { name: "ids", metavar: "A,B", kind: "text" },
    help: "run the rows with these ids, as a list or separated by commas",
  },
  row_sample: {
    type: "int",
    minimum: 1,
    flag: { name: "sample" },
    help: "run N rows drawn from those that are left",
  },
  row_seed: { type: "int", minimum: 0, flag: { name: "seed" }, help: "of --sample [default: 0]" },
  limit,
  num_repeats,
  repeat_order,
  interleave_repeats: toggle("the same as --repeat-order breadth"),
  num_repeats_add_seed,
  skills,
  disable_aggregation: toggle("collect only, compute no metrics"),
  require_complete: {
    type: "bool",
    default: false,
    help: "exit with 1 if a rollout has no result; the files are kept",
  },
  retain_results_in_memory: {
    type: "bool",
    default: true,
    help: "accepted for configs of the original: a run with files never keeps results in memory",
  },
  ...otherRunKeys,
  ...calibrationKeys,
  ...healthKeys,
} as const satisfies KeyTable;

/** Additional keys if the command starts the servers. */
export const servingKeys = {
  split,
  reuse_existing_data_preparation,
  max_cost: {
    type: "float",
    minimum: 0,
    flag: { metavar: "DOLLARS" },
    help: "stop when the model calls of the run have cost this much; --resume continues with a higher limit",
  },
  max_tokens_per_rollout: {
    type: "int",
    minimum: 1,
    flag: {},
    help: "end a rollout when its model calls have used this many tokens, input and output; its answer so far is scored (agents with the standard loop)",
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
  count_failure_classes_as_zero: runKeys.count_failure_classes_as_zero,
  count_missing_rollouts_as_zero: runKeys.count_missing_rollouts_as_zero,
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
  ...calibrationKeys,
} as const satisfies KeyTable;

/** Keys of the report of `eval compare`, which reads files of aggregate metrics. */
export const compareReportKeys = {
  baseline_rollouts_jsonl_fpath: {
    type: "str",
    required: true,
    flag: { name: "baseline", metavar: "FILE" },
    help: "rollouts to compare with; their aggregate metrics are read",
  },
  candidate_rollouts_jsonl_fpaths: {
    type: "any",
    required: true,
    flag: { name: "candidates", metavar: "A[,B]", kind: "text" },
    help: "rollouts to be compared, as a list or separated by commas",
  },
  baseline_aggregate_metrics_fpath: text(
    { name: "baseline-agg-metrics", metavar: "FILE" },
    "metrics of the baseline, if they are not next to its rollouts",
  ),
  candidate_aggregate_metrics_fpaths: {
    type: "any",
    flag: { name: "candidates-agg-metrics", metavar: "A[,B]", kind: "text" },
    help: "metrics of the candidates, in their order, if they are not next to their rollouts",
  },
  agent_name: text({ name: "agent", metavar: "NAME" }, "agent to compare; all common agents when absent"),
  baseline_agent_name: text(
    { name: "baseline-agent", metavar: "NAME" },
    "agent of the baseline, if the names differ",
  ),
  candidate_agent_names: {
    type: "any",
    flag: { name: "candidate-agents", metavar: "A[,B]", kind: "text" },
    help: "agent of each candidate, if the names differ",
  },
  output_dirpath: {
    type: "str",
    computed: true,
    flag: { name: "output-dir", short: "o", metavar: "DIR" },
    help: "folder of the report; that of the first candidate when absent",
  },
  report_format: choice(["md", "json", "both"], "both", "which reports to write"),
} as const satisfies KeyTable;

/** Keys of `eval reverify`. */
export const reverifyKeys = {
  ...runInputsKey,
  input_format: choice(
    ["gym", "atif"],
    "gym",
    "where the answers are: in rollouts, or in ATIF trajectories that a manifest lists",
  ),
  rollouts_jsonl_fpath: text(ROLLOUTS_FLAG, "stored rollouts; not with --input-format atif"),
  atif_manifest_jsonl_fpath: text(
    { name: "atif-manifest", metavar: "FILE" },
    "with --input-format atif: the trajectories and their rollouts, as `gym eval export --format atif` lists them",
  ),
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
    ...runKeys.rollout_timeout_seconds,
    help: "time limit of one verification; null removes it",
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
