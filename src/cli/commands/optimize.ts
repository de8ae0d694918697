import { defineCommand } from "../command.ts";
import { keyFlags } from "../config-keys.ts";
import { agentConfigFlags, jsonLinesFlag, modelFlags, numberFlag, textFlag } from "../flags.ts";
import { optimizeKeys } from "../optimize/keys.ts";
import { brokerKeys, queuedRunKeys, queueFlag } from "../queue/keys.ts";

const atLeastOne = { minimum: 1, whole: true } as const;

export const optimizeCommands = [
  defineCommand({
    words: "optimize",
    summary: "improve prompts, descriptions of tools and skills, with a test",
    description:
      "Improve texts of an agent: a reflection model reads rollouts of training tasks and proposes new texts, validation tasks decide which " +
      "candidate is best, and test tasks that took no part show whether it is better than the texts as they were. " +
      "The result is a config layer, best.yaml, for gym eval run --config.",
    flags: {
      ...agentConfigFlags,
      component: {
        kind: "text",
        short: "c",
        metavar: "NAME",
        repeatable: true,
        required: true,
        help: "text to improve: system_prompt, tools.*.description, tools.*.parameters.*, prompt.user, prompt.system, skills=DIR, config.KEY",
      },
      output: {
        kind: "text",
        short: "o",
        metavar: "DIR",
        required: true,
        completes: "directory",
        help: "directory of the results",
      },
      train: {
        kind: "text",
        metavar: "N|FILE",
        default: "20",
        help: "tasks to learn from: a number of rows, or a file",
      },
      val: {
        kind: "text",
        metavar: "N|FILE",
        default: "20",
        help: "tasks that decide which candidate is best",
      },
      test: {
        kind: "text",
        metavar: "N|FILE",
        default: "20",
        help: "tasks of the test, which the search does not see",
      },
      "reflection-model": textFlag(
        "NAME",
        "model server of the config that proposes texts; policy_model when absent",
      ),
      "max-rollouts": {
        ...numberFlag("N", atLeastOne, "budget of rollouts, with those of the test"),
        default: "500",
      },
      "max-tokens": numberFlag("N", atLeastOne, "budget of tokens of rollouts and proposals"),
      "max-cost": { kind: "value", key: "max_cost", metavar: "DOLLARS", help: "budget in dollars" },
      repeats: { ...numberFlag("N", atLeastOne, "rollouts per task"), default: "1" },
      minibatch: { ...numberFlag("N", atLeastOne, "training tasks per proposal"), default: "3" },
      proposer: {
        kind: "text",
        choices: ["reflect", "rewrite"],
        default: "reflect",
        help: "how texts are proposed",
      },
      selector: {
        kind: "text",
        choices: ["pareto", "best"],
        default: "pareto",
        help: "how the candidate to change next is selected",
      },
      "system-prompt-role": {
        kind: "text",
        choices: ["system", "developer", "user"],
        help: "role of the system prompt in rows that have none, system when absent; user: before the first user message",
      },
      seed: {
        ...numberFlag("N", { minimum: 0, whole: true }, "decides the splits and all choices"),
        default: "0",
      },
      resume: { kind: "switch", help: "continue the optimization in the directory" },
      ...keyFlags(optimizeKeys),
      ...modelFlags,
      ...queueFlag,
      ...jsonLinesFlag,
    },
    keys: { ...optimizeKeys, ...brokerKeys, ...queuedRunKeys },
    examples: [
      "gym optimize --environment workplace_assistant --model-type openai_model -c system_prompt -c 'tools.*.description' --max-cost 5 -o runs/opt1",
      "gym eval run --config runs/opt1/best.yaml --environment workplace_assistant --model-type openai_model",
    ],
    resolve: {},
    run: async (context) => (await import("../optimize/optimize.ts")).runOptimize(context, context.flags),
  }),
];
