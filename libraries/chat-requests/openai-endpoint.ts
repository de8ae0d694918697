import type { JsonObject, ModelCallScope, ServerContext } from "nemo-gym";
import {
  billedCompletion,
  billedResponse,
  type OpenProviderOptions,
  openProvider,
  type Provider,
  providerConfig,
} from "nemo-gym/models";
import {
  type ChatCompletion,
  type ChatCreateParams,
  laxBool,
  laxInt,
  parseChatCompletion,
  parseResponse,
  type Response,
  type ResponseCreateParams,
  withoutTokens,
} from "nemo-gym/openai";
import { z } from "zod";
import { outboundChat } from "./chat-requests.ts";

/** The config keys of servers for an endpoint with both APIs of OpenAI. */
export const openAiFields = {
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
};

const schema = z.looseObject(openAiFields);
type OpenAiConfig = z.output<typeof schema>;
type Scope = ModelCallScope<OpenAiConfig, Provider>;
type Call<Params> = Pick<Scope, "config" | "state" | "signal" | "sessionId" | "rolloutId"> & {
  params: Params;
  /** Headers of this call alone. */
  callHeaders?: Readonly<Record<string, string>>;
};

/** Opens the endpoint of a server's config. */
export function openOpenAi(
  server: ServerContext<OpenAiConfig>,
  options: Partial<OpenProviderOptions> = {},
): Promise<Provider> {
  const { config } = server;
  return openProvider(server, {
    baseUrl: config.openai_base_url,
    baseUrlKey: "openai_base_url",
    apiKey: config.openai_api_key,
    headers: config.openai_default_headers ?? {},
    model: config.openai_model,
    maxConcurrent: config.max_concurrent_requests ?? null,
    ...options,
  });
}

/** Sends a request to `/responses`. */
export async function askResponses(
  { params, config, state: provider, signal, sessionId, rolloutId, callHeaders }: Call<ResponseCreateParams>,
  read: (body: unknown) => Response = (body) => parseResponse(body),
): Promise<Response> {
  const body = outboundResponses(params, config);
  const headers = { ...callHeaders };
  const call = { path: "/responses", body, headers, signal, sessionId, rolloutId, read };
  return billedResponse(await provider.call(call));
}

/** Sends a request to `/chat/completions`. */
export async function askChat({
  params,
  config,
  state: provider,
  signal,
  sessionId,
  rolloutId,
  callHeaders,
}: Call<ChatCreateParams>): Promise<ChatCompletion> {
  const { openai_model: model, extra_body: extraBody } = config;
  const body = outboundChat(params, { model, extraBody, cutsReasoning: false });
  const read = (answer: unknown) => parseChatCompletion(answer);
  const headers = { ...callHeaders };
  return billedCompletion(
    await provider.call({ path: "/chat/completions", body, headers, signal, sessionId, rolloutId, read }),
  );
}

/** The body for `/responses`. Request keys override `extra_body`; the configured model overrides both. */
function outboundResponses(params: ResponseCreateParams, config: OpenAiConfig): JsonObject {
  const body: JsonObject = { ...config.extra_body, ...params, model: config.openai_model };
  if (typeof params.input !== "string") {
    const kept = config.drop_input_reasoning_items
      ? params.input.filter((item) => item.type !== "reasoning")
      : params.input;
    body["input"] = kept.map(withoutTokens);
  }
  return body;
}
