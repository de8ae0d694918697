import { defineCommand } from "../../command.ts";
import { exportKeys } from "../../eval/keys.ts";
import { healthFlags, jsonFlag } from "../../flags.ts";

const number = (key: string, help: string) => ({ kind: "value", key, metavar: "X", help }) as const;

export const evalExport = defineCommand({
  description:
    "Turn rollouts into training data: conversations (sft, chat, trl), pairs (dpo), tasks to be rolled out again (verl, nemo-rl), " +
    "training sequences of token ids (skyrl, prime-rl; trl, verl and nemo-rl with --tokens), trajectories (art, atif), single model calls (calls) or a flat table (csv, parquet). Rows that cannot be exported are reported with their line, never dropped silently.",
  flags: {
    rollouts: {
      kind: "text",
      key: "rollouts_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "rollouts to export",
    },
    inputs: {
      kind: "text",
      key: "materialized_inputs_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "task rows for verl and nemo-rl (default: the file beside the rollouts)",
    },
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "where the export goes (default: <rollouts>_<format>)",
    },
    "output-dir": {
      kind: "text",
      key: "output_dirpath",
      metavar: "DIR",
      completes: "directory",
      help: "atif: a new directory for the trajectories",
    },
    "session-id": {
      kind: "text",
      key: "session_id",
      metavar: "ID",
      help: "atif: the session they belong to",
    },
    "agent-version": {
      kind: "text",
      key: "agent_version",
      metavar: "VERSION",
      help: "atif: version of the agent that made them",
    },
    format: {
      kind: "text",
      short: "f",
      key: "format",
      choices: exportKeys.format.choices,
      help: "what to write",
    },
    "reward-min": number("reward_min", "only rollouts with at least this reward"),
    "reward-max": number("reward_max", "only rollouts with at most this reward"),
    "pass-rate-min": number("pass_rate_min", "only tasks of which at least this share passes"),
    "pass-rate-max": number("pass_rate_max", "only tasks of which at most this share passes"),
    "pass-threshold": number("pass_threshold", "reward from which a rollout passes (default 1)"),
    "best-of": {
      kind: "value",
      key: "best_of",
      metavar: "N",
      help: "only so many best rollouts of each task",
    },
    "include-masked": { kind: "switch", key: "include_masked", help: "take rows marked mask_sample too" },
    label: {
      kind: "text",
      key: "label",
      metavar: "LABEL",
      help: "only rollouts with this label, as given in `gym eval view`",
    },
    "include-excluded": {
      kind: "switch",
      key: "include_excluded",
      help: "take rollouts excluded in `gym eval view` too",
    },
    health: {
      kind: "text",
      key: "health",
      choices: exportKeys.health.choices,
      help: "only rollouts with such a verdict of the health check (default any)",
    },
    "health-check-ignore": healthFlags["health-check-ignore"],
    "complete-groups": {
      kind: "switch",
      key: "complete_groups",
      help: "only tasks of which all repeats are there and not left out",
    },
    pairs: { kind: "text", key: "pairs", choices: exportKeys.pairs.choices, help: "dpo: which pairs" },
    "min-margin": number("min_margin", "dpo: least difference of the rewards of a pair"),
    "max-pairs": {
      kind: "value",
      key: "max_pairs_per_task",
      metavar: "N",
      help: "dpo: most pairs of one task (default 8)",
    },
    reasoning: {
      kind: "text",
      key: "reasoning",
      choices: exportKeys.reasoning.choices,
      help: "reasoning as <think> blocks (default), or left out",
    },
    tokens: {
      kind: "switch",
      key: "tokens",
      help: "trl, verl, nemo-rl: training sequences of token ids instead of texts and tasks",
    },
    "token-drift": {
      kind: "text",
      key: "token_drift",
      choices: exportKeys.token_drift.choices,
      help: "calls that do not continue each other: several sequences (fork, default), the first one, or an invalid row",
    },
    "verify-tokens": {
      kind: "switch",
      key: "verify_tokens",
      help: "read the export back and compare its token ids with the rollouts",
    },
    strict: { kind: "switch", help: "exit with 1 when any row is invalid" },
    ...jsonFlag,
  },
  keys: exportKeys,
  examples: [
    "gym eval export --rollouts out.jsonl --format sft --reward-min 1 --best-of 1",
    "gym eval export --rollouts out.jsonl --format dpo --pairs all --min-margin 0.5 -o pairs.jsonl",
    "gym eval export --rollouts out.jsonl --format verl --tokens --verify-tokens --health not-unhealthy",
    "gym eval export --rollouts out.jsonl --format atif --output-dir trajectories --session-id night-7 --agent-version 1.2",
    "gym eval export --rollouts out.jsonl --format nemo-rl --pass-rate-min 0.1 --pass-rate-max 0.9",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../eval/export.ts")).exportRun(context),
});
