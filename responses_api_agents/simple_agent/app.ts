import { defineAgent, loopAgentConfig, toolLoop } from "nemo-gym";

/** Calls the model and runs its tool calls in order, until it answers. */
export default defineAgent({
  name: "SimpleAgent",
  config: loopAgentConfig,
  responses: (args) => toolLoop(args),
});
