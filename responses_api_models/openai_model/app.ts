import { defineModel } from "nemo-gym";
import { billedCompletion, billedResponse, openProvider, providerConfig } from "nemo-gym/models";
import { laxBool, laxInt, parseChatCompletion, parseResponse } from "nemo-gym/openai";
import { z } from "zod";
import { outboundChat, outboundResponses } from "../../libraries/chat-requests/openai-requests.ts";

/** Older configs use the key `openai_model_name`. */
function currentNames(config: unknown): unknown {
  const { openai_model_name: older, ...rest } = config as Record<string, unknown>;
  return older === undefined ? config : { ...rest, openai_model: rest["openai_model"] ?? older };
}

/** Any endpoint that supports the Responses API; chat requests are forwarded as chat requests. */
export default defineModel({
  name: "SimpleModelServer",
  config: z.preprocess(
    currentNames,
    z.looseObject({
      openai_base_url: z.string(),
      openai_api_key: z.string().nullish(),
      openai_model: z.string(),
      /** Keys added to every request; keys of the request take precedence. */
      extra_body: z.record(z.string(), z.unknown()).nullish(),
      openai_default_headers: z.record(z.string(), z.string()).nullish(),
      /** Maximum number of concurrent calls; null adapts to the endpoint. */
      max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
      /** Removes the reasoning of earlier turns from requests, for endpoints that reject reasoning they have not stored. */
      drop_input_reasoning_items: laxBool().default(false),
      ...providerConfig(),
    }),
  ),
  start: (server) => {
    const { config } = server;
    return openProvider(server, {
      baseUrl: config.openai_base_url,
      baseUrlKey: "openai_base_url",
      apiKey: config.openai_api_key,
      headers: config.openai_default_headers ?? {},
      model: config.openai_model,
      maxConcurrent: config.max_concurrent_requests ?? null,
    });
  },
  async responses({ params, config, state: provider, signal, sessionId, rolloutId }) {
    return billedResponse(
      await provider.call({
        path: "/responses",
        body: outboundResponses(params, config),
        signal,
        sessionId,
        rolloutId,
        read: (body) => parseResponse(body),
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
