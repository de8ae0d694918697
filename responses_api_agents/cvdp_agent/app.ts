import { defineAgent } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import { laxInt, materializeCreateParams, materializeResponse, type Response } from "nemo-gym/openai";
import { z } from "zod";

/** Asks the model again while its answer cannot be read. */
export default defineAgent({
  name: "CvdpAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Answers that are asked for at most. */
    llm_parse_retries: laxInt().pipe(z.number().min(1)).default(3),
  }),
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
    const { row, params, config, respond } = args;
    const asked = { ...row, responses_create_params: materializeCreateParams(params) };
    const { cookies } = await seedSession(args, asked, args.cookies);
    for (let attempt = 1; ; attempt++) {
      const { response } = await respond(params, cookies);
      const result = { ...asked, response: materializeResponse(response as Response) };
      const verified = (await verifyRollout(args, result, cookies)).json() as Record<string, unknown>;
      if (verified["parse_failed"] !== true || attempt >= config.llm_parse_retries) return verified;
    }
  },
});
