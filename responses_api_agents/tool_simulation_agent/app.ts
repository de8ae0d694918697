import { callServer, defineAgent } from "nemo-gym";
import { agentConfig, callLimits, callModel, modelServerRef, resourcesServerRef } from "nemo-gym/agents";
import { materializeCreateParams, materializeResponse } from "nemo-gym/openai";

/** Makes one model call and verifies it: the prompt of the row simulates its tools, so there is no session and no tool to run. */
export default defineAgent({
  name: "ToolSimulationAgent",
  config: agentConfig.extend({ resources_server: resourcesServerRef, model_server: modelServerRef }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { response } = await callModel(server.client, {
      modelServer: config.model_server.name,
      params,
      rollout,
      signal,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
    });
    return { response: { ...response }, cookies };
  },
  async run({ row, params, cookies, config, server, rollout, signal, respond }) {
    const { response } = await respond(params, cookies);
    const body = {
      ...row,
      responses_create_params: materializeCreateParams(params),
      response: materializeResponse(response),
    };
    if (config.skip_verification)
      return { ...body, reward: config.skip_verification_reward, verification_skipped: true };
    rollout.onStage("verify");
    const verified = await callServer(server.client, {
      server: config.resources_server.name,
      path: `${rollout.prefix}/verify`,
      body,
      stage: "verify",
      signal,
      idempotent: true,
    });
    return verified.json() as Record<string, unknown>;
  },
});
