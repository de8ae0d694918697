import { defineModel } from "nemo-gym";
import { billedCompletion, billedResponse, openProvider, providerConfig } from "nemo-gym/models";
import { laxBool, laxInt, parseChatCompletion, parseResponse } from "nemo-gym/openai";
import { z } from "zod";
import { outboundChat, outboundResponses } from "../../libraries/chat-requests/openai-requests.ts";
import { normalizeResponse } from "./normalize-response.ts";
import { checkProxyVersion } from "./proxy-version.ts";

/** A LiteLLM proxy: any provider behind one address. */
export default defineModel({
  name: "LiteLLMModelServer",
  config: z.looseObject({
    openai_base_url: z.string(),
    openai_api_key: z.string().nullish(),
    openai_model: z.string(),
    /** Keys added to every request; keys of the request take precedence. */
    extra_body: z.record(z.string(), z.unknown()).nullish(),
    openai_default_headers: z.record(z.string(), z.string()).nullish(),
    max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
    /** Removes the reasoning of earlier turns from requests. */
    drop_input_reasoning_items: laxBool().default(false),
    ...providerConfig(),
  }),
  async start(server) {
    const { config } = server;
    const provider = await openProvider(server, {
      baseUrl: config.openai_base_url,
      baseUrlKey: "openai_base_url",
      apiKey: config.openai_api_key,
      authorize: (given): Record<string, string> => {
        const key = given.replace(/^bearer\s+/i, "");
        if (key === "") return {};
        return { authorization: `Bearer ${key}`, "x-litellm-key": key };
      },
      headers: config.openai_default_headers ?? {},
      model: config.openai_model,
      maxConcurrent: config.max_concurrent_requests ?? null,
      statesCost: true,
    });
    await checkProxyVersion(provider);
    return provider;
  },
  async responses({ params, config, state: provider, signal, sessionId, rolloutId }) {
    return billedResponse(
      await provider.call({
        path: "/responses",
        body: outboundResponses(params, config),
        signal,
        sessionId,
        rolloutId,
        read: (body) => parseResponse(normalizeResponse(body)),
      }),
    );
  },
  async chat({ params, config, state: provider, signal, sessionId, rolloutId }) {
    return billedCompletion(
      await provider.call({
        path: "/chat/completions",
        body: outboundChat(params, config),
        signal,
        sessionId,
        rolloutId,
        read: (body) => parseChatCompletion(body),
      }),
    );
  },
});
