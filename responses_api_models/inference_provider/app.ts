import { defineModel } from "nemo-gym";
import { billedCompletion, openProvider, type Provider, providerConfig } from "nemo-gym/models";
import { laxBool, laxInt, mergeReasoning, parseChatCompletion } from "nemo-gym/openai";
import { z } from "zod";
import { outboundChat, type Quirks } from "../../libraries/chat-requests/chat-requests.ts";
import { PROVIDERS, type ProviderName, quirksOf, renamesDeveloper } from "./quirks.ts";

interface State {
  provider: Provider;
  quirks: Quirks | undefined;
}

/** Any endpoint with Chat Completions, with the quirks of known providers. */
export default defineModel({
  name: "InferenceProvider",
  config: z
    .looseObject({
      /** A known provider; by default detected from the host of `base_url`. */
      provider: z.enum(Object.keys(PROVIDERS) as [ProviderName, ...ProviderName[]]).nullish(),
      base_url: z.string().nullish(),
      api_key: z.string().nullish(),
      model: z.string(),
      /** Whether think blocks and separate reasoning become reasoning items. */
      uses_reasoning_parser: laxBool().default(false),
      num_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullable().default(1000),
      /** Keys added to every request; keys of the request take precedence. */
      extra_body: z.record(z.string(), z.unknown()).nullish(),
      default_headers: z.record(z.string(), z.string()).nullish(),
      /** Whether `developer` messages are sent as `system`; by default unless the endpoint is known to accept them. */
      replace_developer_role_with_system: laxBool().nullish(),
      max_tokens_field: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
      ...providerConfig(),
    })
    .refine(({ provider, base_url }) => provider || base_url, {
      message: "one of base_url and provider must be set",
    }),
  async start(server): Promise<State> {
    const { config } = server;
    const quirks = quirksOf(config.provider, config.base_url ?? undefined);
    const provider = await openProvider(server, {
      baseUrl: config.base_url ?? quirks?.baseUrl ?? "",
      baseUrlKey: "base_url",
      apiKey: config.api_key,
      headers: config.default_headers ?? {},
      model: config.model,
      maxConcurrent: config.num_concurrent_requests,
      statesCost: quirks?.statesCost ?? false,
    });
    return { provider, quirks };
  },
  modelName: ({ model }) => model,
  usesReasoningParser: ({ uses_reasoning_parser }) => uses_reasoning_parser,
  async chat({ params, config, state, signal, sessionId, rolloutId, onLoss }) {
    const reply = await state.provider.call({
      path: "/chat/completions",
      body: outboundChat(params, {
        model: config.model,
        extraBody: config.extra_body,
        cutsReasoning: config.uses_reasoning_parser,
        maxTokensField: config.max_tokens_field,
        renamesDeveloper:
          config.replace_developer_role_with_system ??
          renamesDeveloper(state.quirks, config.base_url ?? undefined),
        quirks: state.quirks,
        onLoss,
      }),
      signal,
      sessionId,
      rolloutId,
      read: (body) => {
        const completion = parseChatCompletion(body);
        return config.uses_reasoning_parser ? mergeReasoning(completion, config) : completion;
      },
    });
    // We set the time, because not every provider does.
    return { ...billedCompletion(reply), created: Math.floor(Date.now() / 1000) };
  },
});
