import { defineCommand } from "../../command.ts";
import { agentTypeFlags, configFlag, modelFlags, searchDirFlag, selectorFlags } from "../../flags.ts";

export const envStart = defineCommand({
  description:
    "Start every server the configs describe and keep them running until Ctrl-C. " +
    "Servers share this process unless the config says otherwise (hosting: process, num_workers), each on its own address.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...agentTypeFlags,
    ...searchDirFlag,
    ...modelFlags,
    watch: { kind: "switch", help: "restart a server when a file in its folder changes" },
    json: { kind: "switch", help: "print what happens as JSON, one event a line" },
    "exit-with-parent": {
      kind: "switch",
      help: "stop when standard input closes, as it does when the parent process ends",
    },
    "no-preflight": { kind: "switch", help: "do not call the model endpoint before saying ready" },
  },
  examples: [
    "gym env start --resources-server example_single_tool_call --model-type random_model",
    "gym env start --environment my_env --model-type openai_model --watch",
  ],
  resolve: { requireServers: true },
  run: async (context) => (await import("../../env/start.ts")).envStart(context),
});
