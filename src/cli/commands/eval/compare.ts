import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { compareKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const evalCompare = defineCommand({
  description:
    "Compare two runs task by task: difference of the mean rewards with interval and significance, tasks on which the second is better or " +
    "worse, and those that flipped. Further runs are compared with the first, in one table. A run is a rollouts file, or a directory with rollouts.jsonl in it.",
  flags: {
    ...keyFlags(compareKeys),
    ...jsonFlag,
  },
  positionals: {
    RUN_A: { completes: "file", help: "rollouts to compare with" },
    RUN_B: { completes: "file", help: "rollouts to be compared" },
    RUN_C: { completes: "file", optional: true, help: "further rollouts, compared with RUN_A" },
    RUN_D: { completes: "file", optional: true, help: "the same" },
    RUN_E: { completes: "file", optional: true, help: "the same" },
    RUN_F: { completes: "file", optional: true, help: "the same" },
  },
  keys: compareKeys,
  examples: [
    "gym eval compare results/base.jsonl results/tuned.jsonl",
    "gym eval compare a.jsonl b.jsonl --json",
    "gym eval compare base.jsonl small.jsonl large.jsonl",
    "gym eval compare main.jsonl branch.jsonl --fail-on-regression",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => {
    const { RUN_A, RUN_B, RUN_C, RUN_D, RUN_E, RUN_F } = context.positionals;
    const others = [RUN_B, RUN_C, RUN_D, RUN_E, RUN_F].filter((run) => run !== undefined);
    return (await import("../../eval/compare.ts")).compareWithFirst(context, [RUN_A, ...others]);
  },
});
