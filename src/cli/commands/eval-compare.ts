import { defineCommand } from "../command.ts";
import { compareKeys } from "../eval/keys.ts";
import { jsonFlag } from "../flags.ts";

export const evalCompare = defineCommand({
  description:
    "Compare two runs task by task: difference of the mean rewards with interval and significance, tasks on which the second is better or " +
    "worse, and those that flipped. A run is a rollouts file, or a directory with rollouts.jsonl in it.",
  flags: {
    match: {
      kind: "text",
      key: "match",
      choices: compareKeys.match.choices,
      help: "what makes two tasks the same (default auto: the index where inputs agree, else the inputs)",
    },
    "pass-threshold": {
      kind: "value",
      key: "pass_threshold",
      metavar: "X",
      help: "mean reward from which a task passes (default 0.5)",
    },
    show: { kind: "value", key: "show", metavar: "N", help: "flipped tasks to list (default 20)" },
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
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => {
    const { RUN_A: before, RUN_B: after } = context.positionals;
    return (await import("../eval/compare.ts")).compareTwoRuns(context, { before, after });
  },
});
