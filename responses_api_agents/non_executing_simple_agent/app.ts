import { defineAgent } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  inputItems,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
} from "nemo-gym/agents";

/** Makes one model call. Its tool calls are the answer: they are verified, not executed. */
export default defineAgent({
  name: "NonExecutingSimpleAgent",
  config: agentConfig.extend({ resources_server: resourcesServerRef, model_server: modelServerRef }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const modelServer = config.model_server.name;
    const timeoutMs = callLimits(server.globalConfig).modelCallMs;
    const asked = { ...params, input: inputItems(params) };
    const turn = await callModel(server.client, { modelServer, params: asked, rollout, signal, timeoutMs });
    return { response: { ...turn.response }, cookies: mergeCookies(cookies, turn.cookies) };
  },
});
