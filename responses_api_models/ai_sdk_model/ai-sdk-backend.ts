import { readFile } from "node:fs/promises";
import type { JsonObject, ModelCallScope, ServerContext } from "nemo-gym";
import { billedResponse, isProviderError, ProviderError, type ProviderSettings } from "nemo-gym/models";
import type { Response, ResponseCreateParams } from "nemo-gym/openai";
import { sdkRequest } from "./convert-request.ts";
import { sdkResponse } from "./convert-result.ts";
import { factoryOf, importFrom, modelOf } from "./load-provider.ts";
import { type CallRecord, SdkFetch } from "./sdk-fetch.ts";
import type { AiSdk, SdkResult } from "./sdk-types.ts";

export interface AiSdkConfig extends ProviderSettings {
  package: string;
  factory?: string | null | undefined;
  factory_options: JsonObject;
  api_key?: string | null | undefined;
  base_url?: string | null | undefined;
  default_headers?: Record<string, string> | null | undefined;
  model: string;
  model_method?: string | null | undefined;
  provider_options?: Record<string, JsonObject> | null | undefined;
  call_options: JsonObject;
  max_concurrent_requests?: number | null | undefined;
}

type Call = Omit<ModelCallScope<AiSdkConfig, unknown>, "state"> & { params: ResponseCreateParams };

/** A model of an AI SDK provider. */
export class AiSdkBackend {
  readonly #config: AiSdkConfig;
  readonly #sdk: AiSdk;
  readonly #fetch: SdkFetch;
  /** Providers keep the `fetch` they were created with, so each call creates its own; that costs a closure or two. */
  readonly #makeModel: (fetch: unknown) => unknown;

  private constructor(
    config: AiSdkConfig,
    sdk: AiSdk,
    fetch: SdkFetch,
    makeModel: (fetch: unknown) => unknown,
  ) {
    this.#config = config;
    this.#sdk = sdk;
    this.#fetch = fetch;
    this.#makeModel = makeModel;
  }

  static async load(server: ServerContext<AiSdkConfig>): Promise<AiSdkBackend> {
    const { config, directory } = server;
    const sdk = (await importFrom(directory, "ai")) as unknown as AiSdk;
    // Results contain the warnings; the SDK would also print them.
    (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
    const file = config.api_key_file;
    const apiKey = file ? (await readFile(server.findFile(file), "utf8")).trim() : config.api_key;
    const factory = factoryOf(config.package, await importFrom(directory, config.package), config.factory);
    const options = {
      ...config.factory_options,
      ...(apiKey && { apiKey }),
      ...(config.base_url && { baseURL: config.base_url }),
      ...(config.default_headers && { headers: config.default_headers }),
    };
    const makeModel = (fetch: unknown) =>
      modelOf(factory({ ...options, fetch }), config.model, config.model_method);
    // Detects an invalid method or option now instead of at the first row.
    makeModel(undefined);
    const fetch = new SdkFetch(server, {
      apiKey,
      model: config.model,
      maxConcurrent: config.max_concurrent_requests ?? null,
    });
    return new AiSdkBackend(config, sdk, fetch, makeModel);
  }

  async respond({ params, signal, sessionId, rolloutId, onLoss }: Call): Promise<Response> {
    const config = this.#config;
    const record: CallRecord = { cost: null, cached: false, retries: 0, waitedMs: 0 };
    const { tools, ...request } = sdkRequest(params, onLoss);
    let result: SdkResult;
    try {
      result = await this.#sdk.generateText({
        ...config.call_options,
        ...request,
        model: this.#makeModel(this.#fetch.forCall(record, { signal, sessionId, rolloutId })),
        ...(tools.length > 0 && { tools: this.#tools(tools) }),
        ...(config.provider_options && { providerOptions: config.provider_options }),
        // Rows may contain system messages.
        allowSystemInMessages: true,
        // Our client has its own retry budget; two budgets would multiply.
        maxRetries: 0,
        abortSignal: signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw rootCause(error);
    }
    for (const warning of result.warnings ?? []) {
      onLoss({ field: "request", reason: `${config.package} warns: ${JSON.stringify(warning)}` });
    }
    const value = sdkResponse(result, params, config.model);
    return billedResponse({ value, ...record, replica: 0 });
  }

  #tools(tools: ReturnType<typeof sdkRequest>["tools"]) {
    return Object.fromEntries(
      tools.map(({ name, description, parameters }) => [
        name,
        { ...(description && { description }), inputSchema: this.#sdk.jsonSchema(parameters) },
      ]),
    );
  }
}

/** Our own failure if the SDK wrapped one; any other error is a response that the SDK could not read. */
function rootCause(error: unknown): unknown {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if (isProviderError(inner)) return inner;
  if (!(error instanceof Error) || !error.name.startsWith("AI_")) return error;
  return new ProviderError({
    class: "invalid_response",
    retryable: false,
    message: `${error.name}: ${error.message}`,
    cause: error,
  });
}
