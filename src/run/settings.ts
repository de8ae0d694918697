import type { Key } from "../base/config-key.ts";
import type { EvaluationOptions } from "./options.ts";

/** An option of a run, with the config key that sets it. The compiler compares its type with that of the option. */
type Setting<Value> = Key & { readonly key: string } & TypeOf<NonNullable<Value>> &
  (null extends Value
    ? { readonly nullable: true } | { readonly type: "any" }
    : { readonly nullable?: never });

type TypeOf<Value> = [Value] extends [boolean]
  ? { readonly type: "bool" }
  : [Value] extends [number]
    ? { readonly type: "int" | "float" }
    : [Value] extends [string]
      ? { readonly type: "str"; readonly choices?: readonly Value[] }
      : [Value] extends [readonly unknown[]]
        ? { readonly type: "list" }
        : { readonly type: "dict" | "any" };

/**
 * What code and users of the command line can set for a run: the options of `runEvaluation`, and the config keys and flags
 * of `gym eval run`. Types, limits and defaults are here alone. `gym --help` loads this module, so it imports only types.
 */
export const runSettings = {
  agent: {
    key: "agent_name",
    type: "str",
    flag: { name: "agent", short: "a", metavar: "NAME" },
    help: "agent for rows that name none; optional when there is only one",
  },
  limit: {
    key: "limit",
    type: "int",
    minimum: 0,
    flag: {},
    help: "number of input lines to run, before repeats; 0: all",
  },
  // Checked with the agents of the run.
  repeats: {
    key: "num_repeats",
    type: "any",
    flag: { metavar: "N" },
    help: "rollouts per row, or a map from agent to number with _default",
  },
  repeatOrder: {
    key: "repeat_order",
    type: "str",
    choices: ["depth", "breadth"],
    computed: true,
    flag: {},
    help: "breadth: every row once, then again for the next repeat, so that a run that stops early covers all tasks; depth: all repeats of a row together; breadth with a limit of cost or time, else depth",
  },
  addSeed: {
    key: "num_repeats_add_seed",
    type: "bool",
    default: false,
    help: "give every repeat its own seed",
  },
  concurrency: {
    key: "num_samples_in_parallel",
    type: "int",
    minimum: 0,
    flag: { name: "concurrency" },
    help: "rollouts at once; automatic when absent or 0",
  },
  resume: {
    key: "resume_from_cache",
    type: "bool",
    default: false,
    flag: { name: "resume" },
    help: "continue an interrupted run",
  },
  retryFailed: {
    key: "retry_failed",
    type: "bool",
    default: false,
    flag: {},
    help: "with --resume: run failed rollouts again, regardless of their number of attempts",
  },
  promptConfig: {
    key: "prompt_config",
    type: "str",
    flag: { metavar: "FILE" },
    help: "prompt template that creates the input of each row",
  },
  params: {
    key: "responses_create_params",
    type: "dict",
    help: "fields that replace those of every row",
  },
  textOverrides: {
    key: "text_overrides",
    type: "dict",
    help: "texts that replace the system prompt and the descriptions of tools in every row (gym optimize writes them)",
  },
  checkRows: {
    key: "check_rows",
    type: "bool",
    default: true,
    help: "check rows against the schema and tools of their environment before the first model call",
  },
  failUnder: {
    key: "fail_under",
    type: "float",
    flag: { metavar: "REWARD" },
    help: "exit with 3 when the mean reward of an agent is lower",
  },
  minCoverage: {
    key: "min_coverage",
    type: "float",
    minimum: 0,
    maximum: 1,
    flag: { metavar: "SHARE" },
    help: "exit with 3 when a smaller share of the rollouts was scored (0 to 1)",
  },
  countFailuresAsZero: {
    key: "count_failure_classes_as_zero",
    type: "list",
    help: "classes of failures that count as zero in the metrics; files and failures stay as they are",
  },
  countMissingAsZero: {
    key: "count_missing_rollouts_as_zero",
    type: "bool",
    default: false,
    help: "rollouts that left neither a result nor a failure count as zero in the metrics",
  },
  routeFailures: {
    key: "route_failures_to_sidecar",
    type: "bool",
    default: true,
    help: "false: the first rollout that fails for good ends the run",
  },
  maxResident: {
    key: "max_resident_rollout_tasks",
    type: "int",
    minimum: 1,
    help: "upper limit of num_samples_in_parallel",
  },
  dispatchBudgetSeconds: {
    key: "dispatch_budget_s",
    type: "float",
    minimum: 0,
    help: "seconds in which rollouts start; --resume runs the others. Needs num_samples_in_parallel",
  },
  drainMarginSeconds: {
    key: "drain_margin_s",
    type: "float",
    minimum: 0,
    computed: true,
    help: "with dispatch_budget_s: no rollout starts with less time left; when absent, as long as three quarters of this run's rollouts took",
  },
  longestFirst: {
    key: "dispatch_longest_first",
    type: "bool",
    default: false,
    help: "with --resume: rollouts whose failed attempts took longest start first",
  },
  retryTerminalTimeouts: {
    key: "retry_terminal_timeouts",
    type: "bool",
    default: false,
    help: "with --resume: try failures of the class timeout_exceeded, reference_missing, eval_missing or transport_ineligible again, even if they are marked as terminal",
  },
  retryInvalidJudge: {
    key: "retry_invalid_judge_responses",
    type: "bool",
    default: false,
    help: "with --resume: results with invalid_judge_response become failures and run again",
  },
  rolloutTimeoutSeconds: {
    key: "rollout_timeout_seconds",
    type: "float",
    positive: true,
    nullable: true,
    default: 7200,
    flag: { name: "rollout-time-limit", metavar: "SECONDS" },
    help: "time limit of one rollout; null removes it",
  },
  runTimeoutSeconds: {
    key: "run_timeout_seconds",
    type: "float",
    positive: true,
    flag: { name: "time-limit", metavar: "SECONDS" },
    help: "time limit of the whole collection; --resume continues",
  },
  fsync: {
    key: "fsync",
    type: "str",
    choices: ["never", "interval", "always"],
    default: "interval",
    help: "when results are forced onto the disk",
  },
  images: {
    key: "images",
    type: "str",
    choices: ["reference", "inline"],
    default: "reference",
    help: "how result files keep images above 4 kB: in files beside them, or in the rows",
  },
  uploadRollouts: {
    key: "upload_rollouts",
    type: "bool",
    default: true,
    help: "send rollouts to exporters",
  },
  split: {
    key: "split",
    type: "str",
    choices: ["train", "validation", "benchmark"],
    flag: {},
    help: "collate the config's datasets and run this split; with --benchmark: benchmark",
  },
  reusePreparedData: {
    key: "reuse_existing_data_preparation",
    type: "bool",
    default: false,
    help: "skip collation if its result exists",
  },
} as const satisfies { readonly [Option in keyof EvaluationOptions]?: Setting<EvaluationOptions[Option]> };

type Settings = typeof runSettings;

/** The settings by config key. */
export const runKeys = Object.fromEntries(
  Object.values(runSettings).map((setting) => [setting.key, setting]),
) as { readonly [Option in keyof Settings as Settings[Option]["key"]]: Settings[Option] };
