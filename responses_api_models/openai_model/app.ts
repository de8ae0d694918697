import { defineModel } from "nemo-gym";
import { z } from "zod";
import {
  askChat,
  askResponses,
  openAiFields,
  openOpenAi,
} from "../../libraries/chat-requests/openai-endpoint.ts";

/** Older configs use the key `openai_model_name`. */
function currentNames(config: unknown): unknown {
  const { openai_model_name: older, ...rest } = config as Record<string, unknown>;
  return older === undefined ? config : { ...rest, openai_model: rest["openai_model"] ?? older };
}

/** Any endpoint that supports the Responses API; chat requests are forwarded as chat requests. */
export default defineModel({
  name: "SimpleModelServer",
  config: z.preprocess(currentNames, z.looseObject(openAiFields)),
  start: (server) => openOpenAi(server),
  responses: (call) => askResponses(call),
  chat: (call) => askChat(call),
});
