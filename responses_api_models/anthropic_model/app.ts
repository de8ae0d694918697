import { defineModel } from "nemo-gym";
import { billedResponse, openProvider, providerConfig } from "nemo-gym/models";
import { convertAnthropicMessage, convertToAnthropicRequest, laxInt } from "nemo-gym/openai";
import { z } from "zod";

/** Any endpoint with the Anthropic Messages API. */
export default defineModel({
  name: "AnthropicModel",
  config: z
    .looseObject({
      base_url: z.string().default("https://api.anthropic.com"),
      api_key: z.string().nullish(),
      model: z.string(),
      /** The limit for requests without one; the API requires a limit. */
      max_tokens: laxInt().pipe(z.number().int().min(1)).default(8192),
      /** `{type: enabled, budget_tokens: …}`. Use only one of this key, the budget and `extra_body`. */
      thinking: z.looseObject({ type: z.string() }).nullish(),
      thinking_budget_tokens: laxInt().pipe(z.number().int().min(1)).nullish(),
      /** Keys added to every request; keys set by the conversion take precedence. */
      extra_body: z.record(z.string(), z.unknown()).nullish(),
      anthropic_version: z.string().default("2023-06-01"),
      default_headers: z.record(z.string(), z.string()).nullish(),
      max_concurrent_requests: laxInt().pipe(z.number().int().min(1)).nullish(),
      ...providerConfig(),
    })
    .superRefine(({ thinking_budget_tokens, thinking, max_tokens }, context) => {
      const ownKey = typeof thinking_budget_tokens === "number";
      const budget = ownKey ? thinking_budget_tokens : Number(thinking?.["budget_tokens"] ?? 0);
      if (budget < max_tokens) return;
      const path = ownKey ? ["thinking_budget_tokens"] : ["thinking", "budget_tokens"];
      const message = `must be smaller than max_tokens (${max_tokens}), which it is part of; raise that: the API refuses every request otherwise`;
      context.addIssue({ code: "custom", path, message });
    }),
  start: (server) => {
    const { config } = server;
    return openProvider(server, {
      // Both `https://api.anthropic.com` and `…/v1` are common.
      baseUrl: config.base_url.replace(/(?:\/v1)?\/*$/, "/v1"),
      baseUrlKey: "base_url",
      apiKey: config.api_key,
      authorize: (key): Record<string, string> => (key === "" ? {} : { "x-api-key": key }),
      headers: { "anthropic-version": config.anthropic_version, ...config.default_headers },
      model: config.model,
      maxConcurrent: config.max_concurrent_requests ?? null,
    });
  },
  async responses({ params, config, state: provider, signal, sessionId, rolloutId, onLoss }) {
    const { model, thinking, thinking_budget_tokens: budget } = config;
    const body = convertToAnthropicRequest(params, {
      model,
      maxTokens: config.max_tokens,
      extraBody: config.extra_body ?? {},
      ...(thinking && { thinking: thinking as never }),
      ...(budget && { thinkingBudgetTokens: budget }),
      onLoss,
    });
    return billedResponse(
      await provider.call({
        path: "/messages",
        body: { ...body },
        signal,
        sessionId,
        rolloutId,
        // The arguments of a tool call are part of the body here, not a JSON string, so their integers must be kept exact.
        exactNumbers: true,
        read: (message) => convertAnthropicMessage(message, params, { model, onLoss }),
      }),
    );
  },
});
