import { defineCommand } from "../../command.ts";
import { compareKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

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
    "fail-on-regression": {
      kind: "switch",
      key: "fail_on_regression",
      help: "exit with 3 when B is significantly worse than A",
    },
    "max-drop": {
      kind: "value",
      key: "max_drop",
      metavar: "X",
      help: "exit with 3 when the mean reward drops by more than X",
    },
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
