/** A top-level key with a fixed meaning. */
export interface ReservedKey {
  key: string;
  /** The default in the documentation; undefined for a key without one. */
  default?: string;
  description: string;
}

/**
 * Top-level keys that are never server instances, in the order in which their defaults are added.
 * docs/reference/config-keys.md is generated from this table.
 */
export const reservedKeys = [
  { key: "config_paths", description: "Files to load. After resolution: the full list of files loaded." },
  {
    key: "use_absolute_ip",
    default: "false",
    description: "Uses the address of the machine's host name as the default host; overrides `default_host`.",
  },
  { key: "port_range_low", default: "10001", description: "Lowest port for servers without a port." },
  {
    key: "port_range_high",
    default: "20000",
    description: "Highest port for servers without a port, inclusive.",
  },
  {
    key: "head_server",
    default: "{host: <default host>, port: 11000}",
    description:
      "Address of the head server; `++head_server.port=N` moves it. A missing part defaults to 127.0.0.1 or 11000.",
  },
  {
    key: "disallowed_ports",
    default: "computed",
    description: "The head server's port, then every server's. Always overwritten.",
  },
  {
    key: "allow_openai_version_skew",
    default: "false",
    description: "Lets Python servers use another version of the OpenAI library. Must be a boolean.",
  },
  {
    key: "head_server_deps",
    description: "Pinned dependencies for Python servers. Accepted and passed on.",
  },
  { key: "python_version", description: "Interpreter version for the environments of Python servers." },
  {
    key: "skip_venv_if_present",
    default: "false",
    description: "Uses the existing environment of a Python server instead of installing it again.",
  },
  {
    key: "agent_map",
    description:
      "Which agent runs rows that name another one: a map from the agents or task sources of rows to agents of this run, with `_default` for all others.",
  },
  {
    key: "fan_out",
    description:
      "Agents that each run a copy of the rows of an agent or task source: `{quiz: [a_agent, b_agent]}`.",
  },
  {
    key: "replace_agents",
    default: "false",
    description:
      "The one agent of the config without a resources server replaces the agents of the environments. `--agent-type` sets it.",
  },
  {
    key: "allow_unsupported_pairing",
    default: "false",
    description: "Runs agents that a resources server does not list in its `allowed_agents`.",
  },
  {
    key: "error_on_agent_without_environment_server",
    default: "false",
    description: "Rejects agents that no environment server names; without it they get a relay.",
  },
  {
    key: "environment_routing_mode",
    default: "agent",
    description:
      "How rows find their environment server: `agent` (the one that names the row's agent), `legacy` (`environment_server_name`), `taskset` (`environment_server_routes`; only rows that are tasks of tasksets).",
  },
  {
    key: "environment_server_name",
    description: "The environment server of all rows, with the mode `legacy`.",
  },
  {
    key: "environment_server_routes",
    description: "Environment servers by taskset, for rows that are tasks of tasksets: `{taskset: server}`.",
  },
  { key: "dry_run", default: "false", description: "Prepares everything and then stops." },
  {
    key: "model_endpoint_readiness_timeout_seconds",
    default: "600",
    description:
      "How long to wait for model endpoints; by default 30 for addresses of this machine. 0 or less: do not wait.",
  },
  {
    key: "results_dir",
    default: "<working root>/results",
    description: "Where results go. Made absolute; `~` is the home directory.",
  },
  {
    key: "cache_dir",
    default: "<working root>/cache",
    description: "Where downloads and caches go. Made absolute; `~` is the home directory.",
  },
  { key: "uv_cache_dir", default: "<cache_dir>/uv", description: "Download cache for Python servers." },
  {
    key: "uv_venv_dir",
    default: "<working root>",
    description: "Directory of the virtual environments of Python servers.",
  },
  {
    key: "default_host",
    description: "Host for servers without one; 127.0.0.1 when absent or empty. Not written into the config.",
  },
  { key: "entrypoint", description: "Server directory for `env test`, `env init` and `env packages`." },
  {
    key: "ray_head_node_address",
    description: "Cluster address for Python servers. Accepted and passed on.",
  },
  { key: "pip_install_verbose", description: "Shows the installer's output for Python servers." },
  { key: "uv_pip_set_python", description: "Passes the interpreter to the installer of Python servers." },
  { key: "hf_token", description: "Hugging Face token." },
  { key: "nemo_gym_log_dir", description: "Copies each server's output to `<dir>/<instance>.log`." },
  { key: "verbose", description: "Debug logging, in the servers too." },
  { key: "json", description: "Carries `--json`." },
  { key: "query", description: "Carries the text of `gym search`." },
  { key: "component_name", description: "Carries the name that `gym list` inspects." },
  { key: "observability_enabled", description: "Records model calls." },
  { key: "model_call_capture_dir", description: "Absolute directory for recorded model calls." },
  { key: "token_id_capture", description: "Records token ids of model calls." },
  {
    key: "telemetry",
    description:
      "Exports traces and metrics with OpenTelemetry: `enabled`, `otlp_endpoint`, `otlp_headers`, `span_groups` and others.",
  },
  { key: "skip_verification", description: "Copied into every agent that does not set it." },
  { key: "skip_verification_reward", description: "Copied into every agent that does not set it." },
  {
    key: "_inherit_from",
    description: "A directive inside blocks; reserved and without effect at the top level.",
  },
  { key: "_copy", description: "A directive inside blocks; reserved and without effect at the top level." },
] as const satisfies readonly ReservedKey[];

/** Top-level keys that are known but could also name a server instance. */
export const knownKeys = [
  { key: "policy_base_url", description: "Endpoint of the model under test (`--model-url`)." },
  { key: "policy_api_key", description: "API key of the model under test (`--model-api-key`)." },
  { key: "policy_model_name", description: "Name of the model under test (`--model`)." },
  { key: "policy_model", description: "The conventional instance name of the model under test." },
  {
    key: "allowed_hosts",
    default: "[]",
    description:
      "Host names under which servers may be called besides localhost, addresses and the machine's own name. Needed behind a proxy or a DNS name; requests of other web sites are rejected.",
  },
  {
    key: "error_on_almost_servers",
    default: "true",
    description: "Fails when a block looks like a server but does not fit the schema; `false` only warns.",
  },
  {
    key: "blocked_loop_warn_seconds",
    default: "5",
    description:
      "A server that blocks the event loop this long is named on stderr, with the function; null: never.",
  },
  {
    key: "blocked_loop_limit_seconds",
    default: "300",
    description:
      "A process whose event loop is blocked this long ends with a message that names the server; null: never.",
  },
  {
    key: "server_start_limit_seconds",
    default: "3600",
    description:
      "If a server is not ready within this time, the start fails and names it. A message every 10 s names the servers that are not ready. null: no limit.",
  },
  {
    key: "profiling_enabled",
    default: "false",
    description: "Profiles the CPU of every server; `GET /stats` writes the profile so far.",
  },
  {
    key: "profiling_results_dirpath",
    description:
      "Where profiles go, relative to the working root: `<dir>/<cookie name>/<instance>.cpuprofile`.",
  },
  {
    key: "uvicorn_logging_show_200_ok",
    default: "false",
    description: "Logs every request a server answers, with its status.",
  },
  { key: "responses_create_params", description: "Sampling parameters for every rollout." },
  {
    key: "text_overrides",
    description:
      "Texts that replace those of every row: `system_prompt`, `system_prompt_role` (system, developer or user) and `tools` (by name: `description`, and `parameters` by path).",
  },
  {
    key: "max_cost",
    description:
      "Maximum cost of the model calls of a run in dollars. At this cost the run stops and can be resumed.",
  },
  {
    key: "max_tokens_per_rollout",
    description:
      "Tokens, input and output, that the model calls of one rollout may use. At this number the rollout ends and is scored. For agents with the standard loop, such as simple_agent.",
  },
  { key: "upload_rollouts", description: "Uploads rollouts to the exporters that are configured." },
] as const satisfies readonly ReservedKey[];

/**
 * Top-level keys that only some commands or servers read. The page of each command describes them. A test compares this
 * list with the key tables of the commands.
 */
const commandKeys = [
  "agent_name",
  "agent_version",
  "allow_partial_rollouts",
  "append",
  "artifact_fpath",
  "atif_manifest_jsonl_fpath",
  "balance",
  "baseline_agent_name",
  "baseline_aggregate_metrics_fpath",
  "baseline_rollouts_jsonl_fpath",
  "best_of",
  "candidate_agent_names",
  "candidate_aggregate_metrics_fpaths",
  "candidate_rollouts_jsonl_fpaths",
  "catalog_kind",
  "check_rows",
  "commit_description",
  "commit_message",
  "complete_groups",
  "config_name",
  "count_failure_classes_as_zero",
  "count_missing_rollouts_as_zero",
  "count_tokens",
  "create_pr",
  "data_source",
  "dataset_name",
  "delete_from_gitlab",
  "delete_venvs_after_each_test",
  "deviation_min",
  "disable_aggregation",
  "disable_health_check",
  "dispatch_budget_s",
  "dispatch_longest_first",
  "domain",
  "drain_margin_s",
  "duplicates",
  "fail_on_regression",
  "fail_on_total_and_test_mismatch",
  "fail_under",
  "force",
  "format",
  "fsync",
  "health",
  "health_check_ignored_checks",
  "health_check_workers",
  "hf_collection_name",
  "hf_collection_slug",
  "hf_dataset_prefix",
  "hf_endpoint",
  "hf_organization",
  "hosting",
  "images",
  "include_excluded",
  "include_masked",
  "input_format",
  "input_glob",
  "input_jsonl_fpath",
  "interleave_repeats",
  "jsonl_fpath",
  "judge_calibration",
  "judge_failed_only",
  "label",
  "licensing",
  "lifecycle",
  "limit",
  "manifest_path",
  "match",
  "materialized_inputs_jsonl_fpath",
  "max_drop",
  "max_pairs_per_task",
  "max_resident_rollout_tasks",
  "merge_shards",
  "min_coverage",
  "min_margin",
  "mlflow_experiment_name",
  "mlflow_run_name",
  "mlflow_tracking_token",
  "mlflow_tracking_uri",
  "modality",
  "mode",
  "model_call_timeout_seconds",
  "num_prepare_benchmark_processes",
  "num_repeats",
  "num_repeats_add_seed",
  "num_samples_in_parallel",
  "num_shards",
  "onboarding_name",
  "outdated",
  "output_dirpath",
  "output_fpath",
  "output_jsonl_fpath",
  "overwrite",
  "overwrite_metrics_conflicts",
  "pairs",
  "pass_rate_max",
  "pass_rate_min",
  "pass_threshold",
  "prefer",
  "prepare_script_args",
  "prompt_config",
  "python_executable",
  "queue_creds_file",
  "queue_lease_seconds",
  "queue_max_deliver",
  "queue_needs",
  "queue_nkey_file",
  "queue_outage_seconds",
  "queue_owner",
  "queue_password",
  "queue_store_dir",
  "queue_store_host",
  "queue_store_port",
  "queue_tls_ca_file",
  "queue_tls_cert_file",
  "queue_tls_key_file",
  "queue_url",
  "queue_user",
  "queue_weights",
  "reasoning",
  "repeat_order",
  "repo_id",
  "report_format",
  "require_calibration",
  "require_complete",
  "resource_config_path",
  "resume_from_cache",
  "retain_results_in_memory",
  "retry_failed",
  "retry_invalid_judge_responses",
  "retry_terminal_timeouts",
  "reuse_existing_data_preparation",
  "revision",
  "reward_max",
  "reward_min",
  "rollout_collection_driver",
  "rollout_timeout_seconds",
  "rollouts_jsonl_fpath",
  "rollouts_min",
  "route_failures_to_sidecar",
  "row_ids",
  "row_sample",
  "row_seed",
  "row_where",
  "run_timeout_seconds",
  "seed",
  "server_host",
  "server_port",
  "session_id",
  "shard_index",
  "should_download",
  "should_validate_data",
  "show",
  "skills",
  "split",
  "status",
  "strict",
  "sync",
  "token_drift",
  "tokens",
  "tool_call_timeout_seconds",
  "update_expected",
  "upload_rollouts_to_wandb",
  "use_cached_prepared_benchmarks",
  "verify_tokens",
  "version",
  "wandb_api_key",
  "wandb_base_url",
  "wandb_entity",
  "wandb_mode",
  "wandb_name",
  "wandb_project",
];

const RESERVED: ReadonlySet<string> = new Set(reservedKeys.map(({ key }) => key));

/** Whether a top-level key is reserved, so that it is never a server instance. */
export function isReservedKey(key: string): boolean {
  return RESERVED.has(key);
}

/** Every top-level key that the program reads. */
export const keysInUse: readonly string[] = [
  ...reservedKeys.map(({ key }) => key),
  ...knownKeys.map(({ key }) => key),
  ...commandKeys,
];
