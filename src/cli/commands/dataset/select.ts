import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { selectKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const datasetSelect = defineCommand({
  description:
    "Choose the tasks of the next training set by how a policy did on them: by pass rate, by how much rewards differ, without duplicates, the same number from every environment. " +
    "Rollouts excluded in the viewer do not count. Writes the task rows and <output>_selection.json, the report; the same seed gives the same rows.",
  flags: {
    profile: {
      kind: "text",
      short: "p",
      metavar: "FILE",
      completes: "file",
      repeatable: true,
      required: true,
      help: "a profile, as gym eval profile writes it; several may be given",
    },
    ...keyFlags(selectKeys),
    ...jsonFlag,
  },
  keys: selectKeys,
  examples: [
    "gym dataset select -p results/run_reward_profiling.jsonl --pass-rate-min 0.1 --pass-rate-max 0.9 -o next.jsonl",
    "gym dataset select -p a_reward_profiling.jsonl -p b_reward_profiling.jsonl --balance --limit 2000 --prefer deviation --seed 7 -o next.jsonl",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) =>
    (await import("../../dataset/select.ts")).selectDataset(context, context.flags.profile),
});
