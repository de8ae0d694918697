import { defineCommand } from "../../command.ts";
import { jsonFlag, searchDirFlag } from "../../flags.ts";

export const listAgents = defineCommand({
  description:
    "List the agents and whether they are wired to a resources server (composable) or bring their own environment.",
  flags: { ...jsonFlag, ...searchDirFlag },
  positionals: {
    NAME: {
      optional: true,
      key: "component_name",
      completes: ["responses_api_agents"],
      help: "the agent to show",
    },
  },
  examples: ["gym list agents simple_agent", "gym list agents --json"],
  run: async (context) => (await import("../../catalog/list-components.ts")).listAgents(context),
});
