import { defineModel } from "nemo-gym";
import { billedCompletion, openProvider, providerConfig } from "nemo-gym/models";
import { laxInt, parseChatCompletion } from "nemo-gym/openai";
import { z } from "zod";
import { outboundChat } from "../../libraries/chat-requests/chat-requests.ts";
import { deploymentBase, isVersionless } from "./deployment-url.ts";

const withoutNulls = (query: Record<string, string | null> | null | undefined) =>
  Object.fromEntries(
    Object.entries(query ?? {}).filter((entry): entry is [string, string] => entry[1] !== null),
  );

/** A deployment of Azure OpenAI, through its chat API. */
export default defineModel({
  name: "AzureOpenAIModelServer",
  config: z
    .looseObject({
      /** `https://<resource>.openai.azure.com`. */
      openai_base_url: z.string(),
      openai_api_key: z.string().nullish(),
      /** The name of the deployment. */
      openai_model: z.string(),
      /** Contains `api-version`; null values are omitted. */
      default_query: z
        .record(z.string(), z.union([z.null(), z.coerce.string()]))
        .nullish()
        .transform(withoutNulls),
      num_concurrent_requests: laxInt().pipe(z.number().int().min(1)),
      extra_body: z.record(z.string(), z.unknown()).nullish(),
      max_tokens_field: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
      ...providerConfig(),
    })
    .superRefine(({ openai_base_url: url, default_query: query }, context) => {
      if (query["api-version"] || isVersionless(url)) return;
      const message = "is required: Azure answers to versions of its API, such as 2025-01-01-preview";
      context.addIssue({ code: "custom", path: ["default_query", "api-version"], message });
    }),
  start: (server) => {
    const { config } = server;
    return openProvider(server, {
      baseUrl: deploymentBase(config.openai_base_url, config.openai_model),
      baseUrlKey: "openai_base_url",
      apiKey: config.openai_api_key,
      authorize: (key): Record<string, string> => (key === "" ? {} : { "api-key": key }),
      query: config.default_query,
      model: config.openai_model,
      maxConcurrent: config.num_concurrent_requests,
    });
  },
  modelName: ({ openai_model }) => openai_model,
  async chat({ params, config, state: provider, signal, sessionId, rolloutId, onLoss }) {
    const reply = await provider.call({
      path: "/chat/completions",
      body: outboundChat(params, {
        model: config.openai_model,
        extraBody: config.extra_body,
        cutsReasoning: false,
        maxTokensField: config.max_tokens_field,
        onLoss,
      }),
      signal,
      sessionId,
      rolloutId,
      read: (body) => parseChatCompletion(body),
    });
    return { ...billedCompletion(reply), created: Math.floor(Date.now() / 1000) };
  },
});
