import { defineEnvironmentServer } from "nemo-gym";
import { Episodes, runSingleTurnRow, singleTurnConfig } from "nemo-gym/agents";

/** `single_agent_turn` for rows that name their agent: a row in, a result row out. */
export default defineEnvironmentServer({
  name: "SingleAgentTurnLegacy",
  config: singleTurnConfig,
  start: ({ config, log }) => new Episodes(config, log),
  run: ({ config, server, body, signal, state }) => runSingleTurnRow(state, { config, server, body, signal }),
  metricsServer: (config) => config.resources_server.name,
});
