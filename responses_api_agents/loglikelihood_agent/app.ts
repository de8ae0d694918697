import { callServer, defineAgent, HttpError, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import { materializeCreateParams } from "nemo-gym/openai";
import { z } from "zod";
import { type Echoed, partsOf, scoreText } from "./score.ts";

/** Asks a base model for the log probabilities of given texts. It generates nothing. */
export default defineAgent({
  name: "LoglikelihoodAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** Text before an empty context, such as the end-of-text token of the model. */
    prefix: z.string().default(""),
  }),
  responses() {
    throw new HttpError(
      501,
      "loglikelihood_agent scores the rows of loglikelihood; it has no conversations.",
    );
  },
  async run(args) {
    const { row, params, cookies, config, server, rollout, signal } = args;
    const asked = { ...row, responses_create_params: materializeCreateParams(params) };
    const seeded = await seedSession(args, asked, cookies);
    const parts = partsOf(row, config.prefix);
    rollout.onStage("model", config.model_server.name);
    const reply = await callServer(server.client, {
      server: config.model_server.name,
      path: "/v1/completions",
      body: { prompt: parts.map(({ context, continuation }) => context + continuation), echo: true },
      stage: "model",
      signal,
      idempotent: true,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
    });
    const { choices, model } = reply.json() as { choices: { logprobs: Echoed }[]; model: string };
    const scores = parts.map((part, index) => scoreText(part, choices[index]?.logprobs));
    const response = responseOf(JSON.stringify({ scores }), model);
    const verified = await verifyRollout(args, { ...asked, response }, seeded.cookies);
    return verified.json() as JsonObject;
  },
});

/** The scores as the text of a response, so that files, viewer and verifier have them where answers are. */
function responseOf(text: string, model: string): JsonObject {
  const content = [{ type: "output_text", text, annotations: [] }];
  return {
    id: "resp_loglikelihood",
    object: "response",
    created_at: 0,
    model,
    output: [{ id: "msg_loglikelihood", type: "message", role: "assistant", status: "completed", content }],
    parallel_tool_calls: false,
    tool_choice: "none",
    tools: [],
  };
}
