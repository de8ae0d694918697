import {
  choice,
  INPUT_FLAG,
  type KeyTable,
  OUTPUT_FLAG,
  requiredText,
  text,
  toggle,
} from "../config-keys.ts";

const NAME_FLAG = { name: "name", metavar: "NAME" } as const;

/** Keys of env.yaml that give access to the hub. */
export const hubKeys = {
  hf_token: { type: "str", help: "Hugging Face token; HF_TOKEN of the environment when absent" },
  hf_endpoint: { type: "str", help: "address of the hub; HF_ENDPOINT of the environment when absent" },
} as const satisfies KeyTable;

/** Keys of env.yaml that give access to the GitLab registry. */
export const registryKeys = {
  mlflow_tracking_uri: { type: "str", help: "https://<host>/api/v4/projects/<project id>/ml/mlflow" },
  mlflow_tracking_token: { type: "str", help: "GitLab token with the scopes api and read_api" },
} as const satisfies KeyTable;

export const collateKeys = {
  mode: {
    type: "str",
    choices: ["train_preparation", "example_validation"],
    required: true,
    flag: {},
    help: "prepare train and validation data, or validate example data",
  },
  output_dirpath: requiredText({ name: "output-dir", metavar: "DIR" }, "where the collated files go"),
  should_download: toggle("fetch datasets that are not on disk", "download"),
  data_source: {
    type: "str",
    choices: ["huggingface", "gitlab"],
    default: "huggingface",
    help: "where datasets with two identifiers come from",
  },
  overwrite_metrics_conflicts: {
    type: "bool",
    default: false,
    help: "replace metrics files that do not agree with the data",
  },
  strict: toggle("fail when any row is invalid, before anything is written"),
  count_tokens: { type: "bool", default: true, help: "count the tokens of every row" },
  ...hubKeys,
  ...registryKeys,
} as const satisfies KeyTable;

export const renderKeys = {
  input_jsonl_fpath: requiredText(INPUT_FLAG, "file with the raw rows"),
  prompt_config: requiredText({ metavar: "FILE" }, "YAML file with the templates 'user' and 'system'"),
  output_jsonl_fpath: requiredText(OUTPUT_FLAG, "where the filled rows go"),
} as const satisfies KeyTable;

const inputKey = requiredText(INPUT_FLAG, "the file to upload");

export const hubUploadKeys = {
  ...hubKeys,
  hf_organization: { type: "str", required: true, help: "owner of repository and collection" },
  hf_collection_name: { type: "str", required: true, help: "name of the collection" },
  hf_collection_slug: { type: "str", required: true, help: "id of the collection, the end of its address" },
  hf_dataset_prefix: { type: "str", help: "first part of the repository name [default: Nemotron-RL]" },
  input_jsonl_fpath: inputKey,
  resource_config_path: {
    type: "str",
    required: true,
    help: "config of the resources server; it has its name and domain",
  },
  dataset_name: text(NAME_FLAG, "name of the dataset; that of the resources server when absent"),
  split: choice(["train", "validation", "test"], "train", "the split in the file"),
  create_pr: toggle("propose the change as a pull request"),
  revision: text({ metavar: "BRANCH" }, "branch on Hugging Face"),
  commit_message: { type: "str", help: "title of the commit" },
  commit_description: { type: "str", help: "text of the commit" },
  delete_from_gitlab: {
    type: "bool",
    default: false,
    help: "afterwards delete the dataset from the registry",
  },
  ...registryKeys,
} as const satisfies KeyTable;

export const registryUploadKeys = {
  ...registryKeys,
  dataset_name: requiredText(NAME_FLAG, "name of the dataset"),
  version: { type: "str", required: true, help: "version, x.x.x" },
  input_jsonl_fpath: inputKey,
  overwrite: toggle("replace a file that the registry's version already has"),
} as const satisfies KeyTable;

export const hubDownloadKeys = {
  repo_id: requiredText({ metavar: "OWNER/NAME" }, "repository on Hugging Face"),
  artifact_fpath: text({ name: "artifact", metavar: "PATH" }, "the file to download unchanged"),
  split: { type: "str", choices: ["train", "validation", "test"], flag: {}, help: "fetch this split only" },
  output_fpath: text(OUTPUT_FLAG, "where the file goes"),
  output_dirpath: text({ name: "output-dir", metavar: "DIR" }, "where files go under their own names"),
  config_name: { type: "str", help: "which of several configs of the dataset" },
  version: { type: "str", help: "branch, tag or commit [default: main]" },
  revision: { type: "str", help: "the same under another name" },
  ...hubKeys,
} as const satisfies KeyTable;

export const registryDownloadKeys = {
  dataset_name: requiredText(NAME_FLAG, "name of the dataset"),
  version: { type: "str", required: true, help: "version, x.x.x" },
  artifact_fpath: { type: "str", required: true, help: "the file to fetch" },
  output_fpath: { type: "str", required: true, help: "where the file goes" },
  ...registryKeys,
} as const satisfies KeyTable;

export const removeKeys = {
  dataset_name: requiredText(NAME_FLAG, "name of the dataset"),
  ...registryKeys,
} as const satisfies KeyTable;

/** Keys of `dataset select`. */
export const selectKeys = {
  output_jsonl_fpath: requiredText(OUTPUT_FLAG, "where the task rows go"),
  pass_rate_min: { type: "float", flag: {}, help: "only tasks with at least this pass rate" },
  pass_rate_max: { type: "float", flag: {}, help: "only tasks with at most this pass rate" },
  pass_threshold: { type: "float", default: 1, flag: {}, help: "reward from which a rollout passes" },
  deviation_min: { type: "float", flag: {}, help: "only tasks whose rewards have at least this deviation" },
  rollouts_min: {
    type: "int",
    minimum: 1,
    default: 1,
    flag: {},
    help: "only tasks with at least N rollouts",
  },
  duplicates: choice(
    ["none", "prompt", "words"],
    "prompt",
    "tasks that count as the same: none, equal prompts, or prompts with equal words",
  ),
  balance: toggle("the same number of tasks from every environment, if it has enough"),
  limit: { type: "int", minimum: 1, flag: {}, help: "at most N tasks" },
  prefer: choice(["random", "deviation"], "random", "which tasks to prefer when there are too many"),
  seed: { type: "int", default: 0, flag: {}, help: "seed of the random choice" },
  include_excluded: toggle("also count rollouts excluded in `gym eval view`"),
} as const satisfies KeyTable;

/** The keys of `gym eval prepare`. */
export const prepareKeys = {
  use_cached_prepared_benchmarks: { type: "bool", default: false, help: "skip benchmarks whose file exists" },
  num_prepare_benchmark_processes: {
    type: "int",
    default: 1,
    minimum: 1,
    help: "scripts that run at the same time",
  },
  prepare_script_args: { type: "dict", help: "arguments of the scripts, such as {source: huggingface}" },
  python_executable: { type: "str", help: "the Python for scripts written in it [default: python3]" },
  ...hubKeys,
} as const satisfies KeyTable;
