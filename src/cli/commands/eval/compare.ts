import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { compareKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const evalCompare = defineCommand({
  description:
    "Compare two runs task by task: difference of the mean rewards with interval and significance, tasks on which the second is better or " +
    "worse, and those that flipped. A run is a rollouts file, or a directory with rollouts.jsonl in it.",
  flags: {
    ...keyFlags(compareKeys),
    ...jsonFlag,
  },
  positionals: {
    RUN_A: { completes: "file", help: "rollouts to compare with" },
    RUN_B: { completes: "file", help: "rollouts to be compared" },
  },
  keys: compareKeys,
  examples: [
    "gym eval compare results/base.jsonl results/tuned.jsonl",
    "gym eval compare a.jsonl b.jsonl --json",
    "gym eval compare main.jsonl branch.jsonl --fail-on-regression",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => {
    const { RUN_A: before, RUN_B: after } = context.positionals;
    return (await import("../../eval/compare.ts")).compareTwoRuns(context, { before, after });
  },
});
