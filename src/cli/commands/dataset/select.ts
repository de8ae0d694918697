import { defineCommand } from "../../command.ts";
import { selectKeys } from "../../dataset/keys.ts";
import { jsonFlag } from "../../flags.ts";

const number = (key: string, metavar: string, help: string) =>
  ({ kind: "value", key, metavar, help }) as const;

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
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "where the task rows go",
    },
    "pass-rate-min": number("pass_rate_min", "X", "only tasks of which at least this share passes"),
    "pass-rate-max": number("pass_rate_max", "X", "only tasks of which at most this share passes"),
    "pass-threshold": number("pass_threshold", "X", "reward from which a rollout passes (default 1)"),
    "deviation-min": number("deviation_min", "X", "only tasks whose rewards have at least this deviation"),
    "rollouts-min": number("rollouts_min", "N", "only tasks with at least so many rollouts (default 1)"),
    duplicates: {
      kind: "text",
      key: "duplicates",
      choices: selectKeys.duplicates.choices,
      help: "tasks that count as the same: none, equal prompts (default), or prompts with equal words",
    },
    balance: {
      kind: "switch",
      key: "balance",
      help: "the same number of tasks from every environment, as far as it has them",
    },
    limit: number("limit", "N", "at most so many tasks"),
    prefer: {
      kind: "text",
      key: "prefer",
      choices: selectKeys.prefer.choices,
      help: "which tasks come first when there are too many (default random)",
    },
    seed: number("seed", "N", "seed of the random choice (default 0)"),
    "include-excluded": {
      kind: "switch",
      key: "include_excluded",
      help: "count rollouts excluded in `gym eval view` too",
    },
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
