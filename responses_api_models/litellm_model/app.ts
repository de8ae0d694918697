import { defineModel } from "nemo-gym";
import { parseResponse } from "nemo-gym/openai";
import { z } from "zod";
import {
  askChat,
  askResponses,
  openAiFields,
  openOpenAi,
} from "../../libraries/chat-requests/openai-endpoint.ts";
import { normalizeResponse } from "./normalize-response.ts";
import { checkProxyVersion } from "./proxy-version.ts";

/** A LiteLLM proxy: any provider behind one address. */
export default defineModel({
  name: "LiteLLMModelServer",
  config: z.looseObject(openAiFields),
  async start(server) {
    const provider = await openOpenAi(server, {
      authorize: (given): Record<string, string> => {
        const key = given.replace(/^bearer\s+/i, "");
        if (key === "") return {};
        return { authorization: `Bearer ${key}`, "x-litellm-key": key };
      },
      statesCost: true,
    });
    await checkProxyVersion(provider);
    return provider;
  },
  responses: (call) => askResponses(call, (body) => parseResponse(normalizeResponse(body))),
  chat: (call) => askChat(call),
});
