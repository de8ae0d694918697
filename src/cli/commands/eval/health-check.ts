import { defineCommand } from "../../command.ts";
import { jsonFlag } from "../../flags.ts";

export const evalHealthCheck = defineCommand({
  description:
    "Check whether the rollouts of a run can be trusted: readable rows, model calls that succeeded and said something, token counts that " +
    "agree. Writes rollout_verdicts.jsonl and quality_summary.json to RUN_DIR and changes nothing else. Runs automatically after eval run and eval aggregate. " +
    "A rollout without recorded model calls (observability_enabled) is unobserved, not healthy.",
  flags: {
    "rollouts-file": {
      kind: "text",
      metavar: "PATH",
      completes: "file",
      default: "rollouts.jsonl",
      help: "rollouts, relative to RUN_DIR",
    },
    workers: { kind: "text", metavar: "N", help: "threads (default: one for each core, at most 8)" },
    "ignore-checks": { kind: "text", metavar: "A,B", help: "ids of checks to leave out" },
    ignore: { kind: "text", metavar: "A,B", help: "the same as --ignore-checks" },
    ...jsonFlag,
  },
  positionals: { RUN_DIR: { completes: "directory", help: "directory of a run" } },
  examples: [
    "gym eval health-check results/my_agent/2026-01-31T12-00-00",
    "gym eval health-check results --rollouts-file base.jsonl --ignore-checks model_call_missing_token_counts --json",
  ],
  run: async (context) => {
    const { flags, positionals } = context;
    return (await import("../../eval/health-check.ts")).healthCheck(context, {
      directory: positionals.RUN_DIR,
      file: flags["rollouts-file"] ?? "rollouts.jsonl",
      workers: flags.workers,
      ignored: [flags["ignore-checks"], flags.ignore],
    });
  },
});
