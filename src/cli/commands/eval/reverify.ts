import { defineCommand } from "../../command.ts";
import { reverifyKeys } from "../../eval/keys.ts";
import { configFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const evalReverify = defineCommand({
  description:
    "Score stored rollouts again with the verifiers of a config, without asking the model. Servers that do not declare their verifiers safe for this are " +
    "refused unless --force is given. --judge-failed-only recovers rollouts whose judge could not be asked.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    inputs: {
      kind: "text",
      key: "materialized_inputs_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "materialized inputs of the run",
    },
    rollouts: {
      kind: "text",
      key: "rollouts_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "stored rollouts",
    },
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "where the rollouts with new scores go",
    },
    concurrency: {
      kind: "value",
      key: "num_samples_in_parallel",
      metavar: "N",
      help: "rollouts at once (default automatic)",
    },
    limit: { kind: "value", key: "limit", metavar: "N", help: "at most so many rollouts" },
    force: { kind: "switch", key: "force", help: "also with servers that are not declared safe" },
    overwrite: { kind: "switch", key: "overwrite", help: "delete results that are already there" },
    resume: { kind: "switch", key: "resume_from_cache", help: "go on with an interrupted run" },
    "disable-aggregation": { kind: "switch", key: "disable_aggregation", help: "compute no metrics" },
    "judge-failed-only": {
      kind: "switch",
      key: "judge_failed_only",
      help: "recover rollouts whose judge could not be asked",
    },
    append: { kind: "switch", key: "append", help: "with --judge-failed-only: add to an existing output" },
    json: { kind: "switch", help: "print events as JSON lines" },
  },
  keys: reverifyKeys,
  examples: [
    "gym eval reverify --resources-server mcqa --inputs out_materialized_inputs.jsonl --rollouts out.jsonl -o rescored.jsonl",
    "gym eval reverify --config my_env.yaml --inputs in.jsonl --rollouts out.jsonl -o out.jsonl --judge-failed-only --append",
  ],
  resolve: { noModel: true },
  run: async (context) => (await import("../../eval/reverify.ts")).reverifyRollouts(context),
});
