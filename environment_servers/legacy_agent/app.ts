import { defineEnvironmentServer } from "nemo-gym";
import { agentRef, episodeLimits, relay } from "nemo-gym/agents";
import { z } from "zod";

/** Passes every request to an agent that runs whole episodes itself. The limits are accepted, and have no effect. */
export default defineEnvironmentServer({
  name: "LegacyAgent",
  config: z.object({ agent_server: agentRef, ...episodeLimits }),
  run: ({ config, server, body, cookies, headers, signal }) =>
    relay(server.client, { server: config.agent_server.name, path: "/run", body, cookies, headers, signal }),
  metricsServer: (config) => config.agent_server.name,
});
