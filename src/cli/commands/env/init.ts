import { defineCommand } from "../../command.ts";
import { jsonFlag, serverFolderFlag } from "../../flags.ts";

const keys = {
  entrypoint: { type: "str", required: true, help: "the folder to create, resources_servers/NAME" },
} as const;

export const envInit = defineCommand({
  description:
    "Create a component that runs, validates and passes its own test: a resources server (also a game, or one with a judge), an environment or benchmark " +
    "around one, an agent or a model server; or an environment around a Harbor, OpenEnv, verifiers or Aviary environment. Names are lower-case letters, digits and '_'. Nothing is ever overwritten. " +
    "In a folder without package.json the project around it is created too.",
  flags: {
    "resources-server": { ...serverFolderFlag["resources-server"], exclusive: "what" },
    environment: {
      kind: "text",
      metavar: "NAME",
      exclusive: "what",
      help: "create an environment and its verifier",
    },
    benchmark: {
      kind: "text",
      metavar: "NAME",
      exclusive: "what",
      help: "create a benchmark and its verifier",
    },
    game: {
      kind: "text",
      metavar: "NAME",
      exclusive: "what",
      help: "create a resources server that answers every turn of the model",
    },
    judge: {
      kind: "text",
      metavar: "NAME",
      exclusive: "what",
      help: "create a resources server whose answers a second model grades",
    },
    agent: { kind: "text", metavar: "NAME", exclusive: "what", help: "create an agent server" },
    model: { kind: "text", metavar: "NAME", exclusive: "what", help: "create a model server" },
    from: {
      kind: "text",
      metavar: ["KIND", "SOURCE"],
      exclusive: "what",
      help: "create an environment around one of another library: harbor DIRECTORY, openenv URL, verifiers TASKSET or aviary DATASET",
    },
    name: {
      kind: "text",
      metavar: "NAME",
      help: "what the environment of --from is called [default: made from SOURCE]",
    },
    profile: {
      kind: "text",
      choices: [
        "custom-gym-verifier",
        "custom-gym-agent-loop",
        "external-agent-loop",
        "external-rollout-driver",
      ],
      default: "custom-gym-verifier",
      help: "what of an environment or benchmark is your own beside the verifier: nothing, the agent's loop, its whole episode, or the coordination of rollouts",
    },
    "reuse-verifier": {
      kind: "text",
      completes: ["resources_servers"],
      metavar: "NAME",
      help: "score with this resources server instead of a new one",
    },
    "reward-range": {
      kind: "text",
      metavar: ["LOW", "HIGH"],
      help: "the rewards the reused verifier gives",
    },
    "higher-is-better": {
      kind: "switch",
      exclusive: "direction",
      help: "high rewards of the reused verifier are good",
    },
    "lower-is-better": {
      kind: "switch",
      exclusive: "direction",
      help: "low rewards of the reused verifier are good",
    },
    ...jsonFlag,
  },
  keys,
  examples: [
    "gym env init --resources-server my_quiz",
    "gym env init --game my_game",
    "gym env init --benchmark my_quiz_test --reuse-verifier mcqa --reward-range 0 1 --higher-is-better",
    "gym env init --from harbor ./tasks",
    "gym env init --from openenv http://127.0.0.1:8000 --name echo_world",
    "gym env init +entrypoint=resources_servers/my_quiz",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/init.ts")).initComponent(context, keys),
});
