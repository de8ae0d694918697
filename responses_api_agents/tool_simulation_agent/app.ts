import { defineAgent } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  modelServerRef,
  resourcesServerRef,
  verifyRollout,
} from "nemo-gym/agents";
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
  async run(args) {
    const { row, params, cookies, respond } = args;
    const { response } = await respond(params, cookies);
    const verified = await verifyRollout(args, {
      ...row,
      responses_create_params: materializeCreateParams(params),
      response: materializeResponse(response),
    });
    return verified.json() as Record<string, unknown>;
  },
});
