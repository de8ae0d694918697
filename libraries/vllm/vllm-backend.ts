import {
  HttpError,
  type JsonObject,
  type ModelCallScope,
  type ModelPostScope,
  type ServerContext,
} from "nemo-gym";
import {
  billedCompletion,
  billedResponse,
  isProviderError,
  openProvider,
  type Provider,
  ProviderError,
  type ProviderReply,
} from "nemo-gym/models";
import {
  attachTokens,
  type ChatCompletion,
  type ChatCreateParams,
  ConversionError,
  convertChatCompletion,
  convertResponsesToChat,
  findTokens,
  mergeReasoning,
  parseChatCompletion,
  parseResponse,
  type Response,
  type ResponseCreateParams,
  TokenInformationError,
} from "nemo-gym/openai";
import { audioUrl } from "./audio-file.ts";
import {
  bareReasoningCompletion,
  buildVllmChatBody,
  contextOverflowCompletion,
  endsInBareReasoning,
  insertAudio,
  isContextOverflow,
  takeAudio,
  templateSettings,
  tokenizeBody,
  type VllmChatBody,
} from "./chat-body.ts";
import { type ChatTemplate, loadChatTemplate } from "./chat-template.ts";
import {
  completionBody,
  completionToChat,
  parseTextCompletion,
  rawPrompt,
  requireText,
} from "./completions.ts";
import type { VllmConfig } from "./config.ts";
import { ContinuityCounter } from "./continuity.ts";
import { EchoRequest, echoBody, readEchoed } from "./echoed.ts";
import { withPolicyVersion } from "./policy-version.ts";
import { TransportLog } from "./transport-log.ts";

type Scope = Omit<ModelCallScope<VllmConfig, unknown>, "state">;

/** Changes the body of a request, for engines with special roles or fields. */
export type AdaptBody = (body: VllmChatBody, params: ChatCreateParams) => VllmChatBody;

export interface VllmBackendOptions {
  /** Overrides of the config, for servers that learn the address of their engine late. */
  engine?: { base_url: string | readonly string[]; api_key?: string | null | undefined; model: string };
  adaptBody?: AdaptBody;
}

/** Opens the engine of a server's config. */
export async function openVllm(
  server: ServerContext<VllmConfig>,
  options: VllmBackendOptions = {},
): Promise<VllmBackend> {
  const { config } = server;
  const engine = {
    base_url: config.base_url,
    api_key: config.api_key,
    model: config.model,
    ...options.engine,
  };
  const provider = await openProvider(server, {
    baseUrl: engine.base_url,
    baseUrlKey: "base_url",
    apiKey: engine.api_key,
    headers: config.default_headers ?? {},
    model: engine.model,
    free: true,
  });
  const template =
    config.use_completions_api && config.render_chat_template && config.tokenizer
      ? await loadChatTemplate(config.tokenizer, server)
      : undefined;
  const baseUrls = [engine.base_url].flat();
  const { adaptBody } = options;
  return new VllmBackend({ server, provider, baseUrls, model: engine.model, template, adaptBody });
}

interface BackendParts {
  server: ServerContext<VllmConfig>;
  provider: Provider;
  baseUrls: readonly string[];
  model: string;
  template: ChatTemplate | undefined;
  adaptBody: AdaptBody | undefined;
}

/** A vLLM-style engine behind one or more addresses. */
export class VllmBackend {
  readonly continuity: ContinuityCounter;
  readonly #parts: BackendParts;
  readonly #settings: VllmConfig;
  readonly #transport: TransportLog | undefined;

  constructor(parts: BackendParts) {
    const { config, log } = parts.server;
    this.#parts = parts;
    this.#settings = { ...config, base_url: [...parts.baseUrls], model: parts.model };
    this.continuity = new ContinuityCounter(log);
    this.#transport = TransportLog.fromEnvironment(process.env, log);
  }

  get model(): string {
    return this.#parts.model;
  }

  close(): void {
    this.continuity.summarize();
  }

  async responses(call: Scope & { params: ResponseCreateParams }): Promise<Response> {
    const { onLoss } = call;
    const { is_responses_native, uses_reasoning_parser } = this.#settings;
    const params = { ...call.params, model: this.model };
    if (is_responses_native) return this.#nativeResponse(call, params);
    const completion = await this.chat({
      ...call,
      params: convertResponsesToChat(params, { returnTokenIds: true, onLoss }),
    });
    const response = await this.#engineFaults(() =>
      convertChatCompletion(completion, params, {
        usesReasoningParser: uses_reasoning_parser,
        returnTokenIds: true,
        onLoss,
      }),
    );
    return "ng_cache_hit" in completion ? ({ ...response, ng_cache_hit: true } as Response) : response;
  }

  async chat(call: Scope & { params: ChatCreateParams }): Promise<ChatCompletion> {
    const settings = this.#settings;
    if (settings.use_completions_api) return this.#complete(call);
    const params = await this.#withAudio(call.params);
    const built = buildVllmChatBody(params, settings, call.onLoss);
    const adapted = this.#parts.adaptBody?.(built, params) ?? built;
    const body: VllmChatBody = { ...adapted, ...call.fields };
    if (!settings.sequential_reasoning_allowed && endsInBareReasoning(body.messages)) {
      return bareReasoningCompletion(this.model);
    }
    const reply = await this.#ask("/chat/completions", body, call, (answer) => parseChatCompletion(answer));
    if (reply === undefined) return contextOverflowCompletion(this.model);
    const billed = withPolicyVersion({ ...billedCompletion(reply), model: this.model });
    const merged = await this.#engineFaults(() => mergeReasoning(billed, settings));
    if (!settings.return_token_id_information) return merged;
    const completion = await this.#withTokens(merged, body, reply.replica, call);
    this.continuity.count(call.params.messages, completion, call.rolloutId);
    return completion;
  }

  /** The token ids of the prompt that the engine would use for a chat request. */
  async tokenize(call: Scope & { params: ChatCreateParams }): Promise<number[]> {
    const body = buildVllmChatBody(call.params, this.#settings, call.onLoss);
    return this.#tokenize({ ...tokenizeBody(body), ...call.fields }, undefined, call);
  }

  /** Forwards a signal of a trainer to every replica; all of them must accept it. */
  async signal(
    call: Pick<ModelPostScope<VllmConfig, unknown>, "path" | "query" | "body" | "signal">,
  ): Promise<unknown> {
    const { path, query, body, signal } = call;
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const replies = await this.#parts.provider.signalAll({ path: path + query, body: sent, signal });
    for (const { host, status, text } of replies) {
      if (status >= 400) throw new HttpError(502, `${status} from ${host}${path}: ${text.slice(0, 500)}`);
    }
    this.#parts.server.log.info(`${path}: passed on to ${replies.map(({ host }) => host).join(", ")}`);
    return { replicas: replies.map(({ host, status, text }) => ({ host, status, body: jsonOrText(text) })) };
  }

  /** The log probabilities of given texts: `/completions` with `echo`. */
  async echoed({
    body,
    signal,
  }: Pick<ModelPostScope<VllmConfig, unknown>, "body" | "signal">): Promise<unknown> {
    const request = EchoRequest.safeParse(body);
    if (!request.success)
      throw new HttpError(422, "/v1/completions takes a list of texts as `prompt`, with `echo`");
    const { prompt } = request.data;
    const { provider } = this.#parts;
    const reply = await provider.call({
      path: "/completions",
      body: { ...this.#settings.extra_body, ...echoBody(prompt, this.model) },
      signal,
      read: (answer) => readEchoed(answer, prompt, provider.hosts.join(", ")),
    });
    return { ...reply.value, model: this.model };
  }

  async #nativeResponse(call: Scope, params: ResponseCreateParams): Promise<Response> {
    const { extra_body, sampling_overrides, chat_template_kwargs } = this.#settings;
    const reply = await this.#parts.provider.call({
      ...this.#target(call),
      path: "/responses",
      body: {
        ...extra_body,
        ...params,
        ...(chat_template_kwargs && { chat_template_kwargs }),
        ...sampling_overrides,
      },
      read: (body) => parseResponse(body),
    });
    return billedResponse(reply);
  }

  /** Base models: sends the text to `/completions` and returns a chat response. */
  async #complete(call: Scope & { params: ChatCreateParams }): Promise<ChatCompletion> {
    const settings = this.#settings;
    const { params } = call;
    const prompt = settings.render_chat_template ? await this.#rendered(params, call) : rawPrompt(params);
    const body = completionBody(params, settings, prompt);
    const reply = await this.#ask("/completions", body, call, parseTextCompletion);
    if (reply === undefined) return contextOverflowCompletion(this.model);
    const promptIds = async () => {
      if (typeof prompt !== "string") return prompt;
      const { add_special_tokens } = body;
      const asked = {
        model: this.model,
        prompt,
        ...(add_special_tokens !== undefined && { add_special_tokens }),
      };
      return this.#tokenize(asked, reply.replica, call);
    };
    const value = await this.#engineFaults(() =>
      completionToChat(reply.value, settings, settings.return_token_id_information ? promptIds : undefined),
    );
    const completion = billedCompletion({ ...reply, value });
    if (settings.return_token_id_information)
      this.continuity.count(params.messages, completion, call.rolloutId);
    return completion;
  }

  /** Without a local tokenizer the engine applies its template, and the resulting ids are sent back to it. */
  async #rendered(params: ChatCreateParams, call: Scope): Promise<string | number[]> {
    requireText(params);
    const extra = templateSettings(params, this.#settings);
    const { template } = this.#parts;
    if (template) return template.render(params, extra);
    const { messages, tools } = params;
    const asked = {
      model: this.model,
      messages,
      ...(tools && { tools }),
      add_generation_prompt: true,
      ...(Object.keys(extra).length > 0 && { chat_template_kwargs: extra }),
    };
    return this.#tokenize(asked, undefined, call);
  }

  async #withTokens(
    completion: ChatCompletion,
    body: VllmChatBody,
    replica: number,
    call: Scope,
  ): Promise<ChatCompletion> {
    return this.#engineFaults(async () => {
      const found = findTokens(completion);
      if (found.kind === "complete") return attachTokens(completion, found);
      const promptIds = await this.#tokenize(tokenizeBody(body), replica, call);
      return attachTokens(completion, found, promptIds);
    });
  }

  /** Missing ids and responses in an unexpected form are errors of the engine; a retry would not help. */
  async #engineFaults<T>(task: () => T | Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof TokenInformationError || error instanceof ConversionError)) throw error;
      const hosts = this.#parts.provider.hosts.join(", ");
      throw new ProviderError({
        class: "invalid_response",
        retryable: false,
        message: `200 from ${hosts}, but ${error.message}`,
        cause: error,
      });
    }
  }

  async #tokenize(body: JsonObject, replica: number | undefined, call: Scope): Promise<number[]> {
    const reply = await this.#parts.provider.call({
      ...this.#target(call),
      path: "/tokenize",
      besideBase: true,
      body,
      ...(replica !== undefined && { replica }),
      read: (answer) => {
        const tokens = (answer as { tokens?: unknown } | null)?.tokens;
        if (Array.isArray(tokens) && tokens.every(Number.isInteger)) return tokens as number[];
        throw new TokenInformationError("/tokenize answered without a list of token ids");
      },
    });
    return reply.value;
  }

  /** One call to the engine; undefined if the prompt does not fit into its context. */
  async #ask<T>(
    path: string,
    body: JsonObject,
    call: Scope,
    read: (answer: unknown) => T,
  ): Promise<ProviderReply<T> | undefined> {
    const record = this.#transport?.begin(body, this.#settings.base_url, call.headers);
    try {
      const reply = await this.#parts.provider.call({
        ...this.#target(call),
        path,
        body,
        read: (answer) => {
          record?.answered(answer);
          return read(answer);
        },
      });
      return reply;
    } catch (error) {
      record?.failed(error);
      if (isProviderError(error) && isContextOverflow(error.providerStatus ?? 0, error.body))
        return undefined;
      throw error;
    }
  }

  #target({ signal, sessionId, rolloutId }: Scope) {
    return { signal, sessionId, rolloutId };
  }

  async #withAudio(params: ChatCreateParams): Promise<ChatCreateParams> {
    const { sources, metadata } = takeAudio(params.metadata);
    if (sources.length === 0) return params;
    const urls = await Promise.all(
      sources.map((source) =>
        source.kind === "data" ? source.url : audioUrl(source.path, this.#settings.audio_root),
      ),
    );
    const { metadata: _all, ...rest } = params;
    return {
      ...rest,
      messages: insertAudio(params.messages, urls),
      ...(metadata && { metadata: metadata as Record<string, string> }),
    };
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
