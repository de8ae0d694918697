import { defineAgent, GymError, loopAgentConfig, toolLoop } from "nemo-gym";
import { directHttpSession, resourcesServerRef } from "nemo-gym/agents";
import { z } from "zod";

/** Calls the model and runs its tool calls in order, until it answers. */
export default defineAgent({
  name: "SimpleAgent",
  config: loopAgentConfig.extend({
    resources_server: resourcesServerRef.optional(),
    execute_tools: z.boolean().default(true),
  }),
  session: ({ config, seed }) => directHttpSession(config.tool_accesses, seed),
  responses: (args) => {
    if (!args.config.execute_tools && !args.session)
      throw new GymError("AGENT_SESSION", "execute_tools: false is possible only in sessions.");
    return toolLoop(args);
  },
});
