import { agentConfig, callModel, defineAgent, modelServerRef, resourcesServerRef } from "nemo-gym";

/** One model call: what the model calls is its answer and is verified, not run. */
export default defineAgent({
  name: "NonExecutingSimpleAgent",
  config: agentConfig.extend({ resources_server: resourcesServerRef, model_server: modelServerRef }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const modelServer = config.model_server.name;
    const turn = await callModel(server.client, { modelServer, params, rollout, signal });
    return { response: { ...turn.response }, cookies: { ...cookies, ...turn.cookies } };
  },
});
