import { defineEnvironmentServer } from "nemo-gym";
import { Episodes, runSingleTurn, singleTurnConfig } from "nemo-gym/agents";

/** Runs one activation of one agent per task, with sessions of the agent and of the environment. */
export default defineEnvironmentServer({
  name: "SingleAgentTurn",
  config: singleTurnConfig,
  start: ({ config, log }) => new Episodes(config, log),
  run: ({ config, server, body, signal, state }) => runSingleTurn(state, { config, server, body, signal }),
  metricsServer: (config) => config.resources_server.name,
});
