import { defineAgent, GymError, loopAgentConfig, toolLoop } from "nemo-gym";
import { z } from "zod";

/** Calls the model and runs its tool calls in order, until it answers. */
export default defineAgent({
  name: "SimpleAgent",
  config: loopAgentConfig.partial({ resources_server: true }).extend({
    execute_tools: z.boolean().default(true),
  }),
  session: "direct_http",
  responses: (args) => {
    if (!args.config.execute_tools && !args.session)
      throw new GymError("AGENT_SESSION", "execute_tools: false is possible only in sessions.");
    return toolLoop(args);
  },
});
