import { z } from "zod";
import { errorMessage } from "../../../base/errors.ts";
import { dumpsCompact, isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { currentSpan } from "../../../base/telemetry/light-door.ts";
import {
  convertAnthropicRequest,
  convertChatCompletion,
  convertChatRequest,
  convertResponsesToChat,
  convertToAnthropicMessage,
  convertToChatCompletion,
  type Loss,
  LossLog,
  mergeReasoning,
  type Usage,
  unsupported,
  usageFromChat,
} from "../../../wire/convert/door.ts";
import {
  type ChatCompletion,
  type ChatCreateParams,
  parseChatParams,
  parseCreateParams,
  type Response,
  type ResponseCreateParams,
  ValidationError,
} from "../../../wire/schemas/door.ts";
import {
  type Dialect,
  parseSanitizedParams,
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "../../../wire/stream/door.ts";
import { ROLLOUT_HEADER } from "../../calls/rollout-id.ts";
import { Reply } from "../../calls/server-call.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import type { ModelDefinition } from "../../definitions/define-model.ts";
import { ProviderError } from "../../model-endpoint/provider-error.ts";
import { type AppHost, classNameOf, type Handler, type RouteCall, ServerApp } from "../app.ts";
import { eventStream, MalformedBody, parseWith, requireObject } from "../body.ts";
import { ModelCapture } from "../model-capture/model-capture.ts";
import { noteAnswer } from "../tracing/trace-model-call.ts";
import { responseOfHandler } from "./handler-response.ts";
import { countTokensRoute, modelsRoute, RolloutUsage } from "./model-info.ts";
import { modelNotes } from "./openapi.ts";
import { cutAtStop } from "./stop-sequences.ts";

/** Creates a running model server from its definition: three dialects, plain and streamed, over one or two handlers. */
export function createModelApp(
  definition: ModelDefinition,
  server: ServerContext<unknown>,
  host: AppHost,
): ServerApp {
  const { options } = definition;
  const context = server as ServerContext<never>;
  const capture = ModelCapture.of(server);
  const backend = new ModelBackend(definition, context, capture);
  const route = (dialect: Dialect, handler: Handler): Handler =>
    capture ? capture.route(dialect, rejectingMalformed(handler)) : handler;
  return new ServerApp({
    name: server.name,
    type: "responses_api_models",
    className: options.name ?? classNameOf(host.implementation),
    get: {
      "/v1/models": modelsRoute(definition, server),
      ...Object.fromEntries(
        Object.entries(options.get ?? {}).map(([path, handler]) => [
          path,
          (call: RouteCall) => handler(backend.scope(call, undefined)),
        ]),
      ),
    },
    post: {
      "/v1/responses": route("responses", responsesRoute(backend)),
      "/v1/chat/completions": route("chat", chatRoute(backend)),
      "/v1/messages": route("messages", messagesRoute(backend)),
      "/v1/messages/count_tokens": countTokensRoute(),
      "/rollout_usage": backend.usage.route,
      ...Object.fromEntries(
        Object.entries(options.post ?? {}).map(([path, handler]) => [
          path,
          ({ query = "", body, signal }: RouteCall) =>
            handler({
              config: context.config,
              server: context,
              state: backend.state as never,
              ...{ path, query, body, signal },
            }),
        ]),
      ),
    },
    notes: modelNotes,
    log: server.log,
    newSessionId: host.newSessionId,
    takesMalformed: () => capture !== undefined,
    start: async () => {
      await capture?.open();
      backend.state = await options.start?.(context);
    },
    stop: () => options.stop?.(context, backend.state as never),
    close: () => capture?.close(),
  });
}

/** The definition's handlers, each also available in the other's dialect. */
class ModelBackend {
  state: unknown;
  readonly losses: LossLog;
  readonly usage = new RolloutUsage();
  readonly #definition: ModelDefinition;
  readonly #server: ServerContext<never>;
  /** Records the tokens of answers for training. */
  readonly #capture: ModelCapture | undefined;

  constructor(definition: ModelDefinition, server: ServerContext<never>, capture: ModelCapture | undefined) {
    this.#definition = definition;
    this.#server = server;
    this.#capture = capture;
    this.losses = new LossLog(server.log);
  }

  /** The arguments of a handler. */
  scope<Params>(call: RouteCall, params: Params) {
    const { signal, sessionId, headers } = call;
    const rolloutId = call.rolloutId ?? headers[ROLLOUT_HEADER];
    return {
      params,
      config: this.#server.config,
      server: this.#server,
      state: this.state as never,
      signal,
      sessionId,
      headers,
      rolloutId: typeof rolloutId === "string" ? rolloutId : undefined,
      fields: this.#fieldsOf(call.body),
      onLoss: this.onLoss,
    };
  }

  /** The fields of a request that only this server knows. */
  #fieldsOf(body: unknown): JsonObject {
    const { requestFields } = this.#definition.options;
    if (!requestFields || !isObject(body)) return {};
    return Object.fromEntries(requestFields.filter((name) => name in body).map((name) => [name, body[name]]));
  }

  /** A request without these fields, which its schema does not have. */
  known(body: JsonObject): JsonObject {
    const { requestFields } = this.#definition.options;
    if (!requestFields?.some((name) => name in body)) return body;
    return Object.fromEntries(Object.entries(body).filter(([name]) => !requestFields.includes(name)));
  }

  readonly onLoss = (loss: Loss): void => {
    if (loss.essential) unsupported(`${loss.field}: ${loss.reason}`);
    this.losses.report(loss);
  };

  responses(params: ResponseCreateParams, call: RouteCall): Promise<Response> {
    const { responses } = this.#definition.options;
    const ask = async () =>
      responses ? responses(this.scope(call, params)) : this.#responsesByChat(params, call);
    return this.#recorded(call, ask, {
      input: params.input,
      asResponse: (response) => response,
      usageOf: (response) => response?.usage,
    });
  }

  async #responsesByChat(params: ResponseCreateParams, call: RouteCall): Promise<Response> {
    const { chat, usesReasoningParser, modelName } = this.#definition.options;
    const { onLoss } = this;
    const { config } = this.#server;
    const named = modelName ? { ...params, model: modelName(config) } : params;
    const question = convertResponsesToChat(named, { returnTokenIds: true, onLoss });
    const completion = await chat?.(this.scope(call, question));
    const response = convertAnswer(() =>
      convertChatCompletion(completion as ChatCompletion, named, {
        usesReasoningParser: usesReasoningParser?.(config) ?? true,
        returnTokenIds: true,
        onLoss,
      }),
    );
    return completion && "ng_cache_hit" in completion
      ? ({ ...response, ng_cache_hit: true } as Response)
      : response;
  }

  chat(params: ChatCreateParams, call: RouteCall): Promise<ChatCompletion> {
    const { chat } = this.#definition.options;
    const ask = async () => (chat ? chat(this.scope(call, params)) : this.#chatByResponses(params, call));
    return this.#recorded(call, ask, {
      input: params.messages,
      asResponse,
      usageOf: (completion) => usageFromChat(completion?.usage),
    });
  }

  /** Records the tokens and counts the usage of an answer. */
  async #recorded<T extends Response | ChatCompletion>(
    call: RouteCall,
    ask: () => Promise<T>,
    read: {
      input: unknown;
      asResponse: (answer: T) => Response;
      usageOf: (answer: T) => Usage | null | undefined;
    },
  ): Promise<T> {
    const answer = await (this.#capture ? this.#capture.ask(call, ask, read.asResponse) : ask());
    if (call.rolloutId !== undefined) this.usage.add(call.rolloutId, read.usageOf(answer));
    if (currentSpan())
      noteAnswer(answer, read.usageOf(answer), () => ({
        input: read.input,
        output: read.asResponse(answer).output,
      }));
    return answer;
  }

  async #chatByResponses(params: ChatCreateParams, call: RouteCall): Promise<ChatCompletion> {
    const { responses } = this.#definition.options;
    const { onLoss } = this;
    const { stop, ...rest } = params;
    const question = convertChatRequest(withStrictTools(rest), { onLoss });
    const answer = (await responses?.(this.scope(call, question))) as Response;
    const { response } = cutAtStop(answer, typeof stop === "string" ? [stop] : (stop ?? []));
    return convertAnswer(() => convertToChatCompletion(response, { onLoss }));
  }
}

/** The items of a chat answer; the last item has its tokens. */
function asResponse(completion: ChatCompletion): Response {
  const merged = mergeReasoning(completion, {});
  return convertChatCompletion(merged, { input: [], model: completion.model }, { returnTokenIds: true });
}

/** A recording route also receives requests that are not JSON; its handler does not. */
function rejectingMalformed(handler: Handler): Handler {
  return (call) => {
    if (call.body instanceof MalformedBody) throw new ValidationError([call.body.detail]);
    return handler(call);
  };
}

/** Chat tools may omit `strict`; Responses tools may not. */
function withStrictTools(params: ChatCreateParams): ChatCreateParams {
  if (!params.tools) return params;
  const tools = params.tools.map((tool) =>
    tool.type === "function"
      ? { ...tool, function: { strict: false, parameters: {}, ...tool.function } }
      : tool,
  );
  return { ...params, tools: tools as NonNullable<ChatCreateParams["tools"]> };
}

function responsesRoute(backend: ModelBackend): Handler {
  return async (call) => {
    const body = backend.known(requireObject(call.body));
    if (!body["stream"]) {
      return materialized(await backend.responses(parseCreateParams(body, ["body"]), call));
    }
    const { request, namespaces } = sanitizeStreamingResponses(body, backend.onLoss);
    const params = parseSanitizedParams(request, ["body"], backend.onLoss);
    // Awaited before the stream starts, so that a failure is an HTTP error.
    const response = await backend.responses(params, call);
    return eventStream(replayResponse(responseOfHandler(response), namespaces));
  };
}

const materialized = (response: Response): Reply => new Reply({ body: responseOfHandler(response) });

function chatRoute(backend: ModelBackend): Handler {
  return async (call) => {
    const body = backend.known(requireObject(call.body));
    const { stream: wanted } = body;
    if (wanted !== true) {
      if (wanted !== undefined && wanted !== null && wanted !== false) throw notBoolean(wanted);
      return backend.chat(parseChatParams(body, ["body"]), call);
    }
    const { request, includeUsage } = sanitizeStreamingChat(body);
    // Awaited before the stream starts, so that a failure is an HTTP error.
    const completion = await backend.chat(parseChatParams(request, ["body"]), call);
    return eventStream(replayChatCompletion(completion, { includeUsage }));
  };
}

function messagesRoute(backend: ModelBackend): Handler {
  return async (call) => {
    const body = requireObject(call.body);
    const { onLoss } = backend;
    const { stop_sequences: sequences = [], ...rest } = body;
    const stops = parseWith(z.array(z.string()).nullable(), sequences, ["body", "stop_sequences"]);
    const answer = await backend.responses(convertAnthropicRequest(rest, { onLoss }), call);
    const { response, stopped } = cutAtStop(answer, (stops as string[] | null) ?? []);
    const model = String(body["model"] || response.model);
    const message = convertAnswer(() =>
      convertToAnthropicMessage(response, { model, stopSequence: stopped, onLoss }),
    );
    // The body contains the arguments of calls, which may hold integers that only `dumpsCompact` can write.
    return body["stream"]
      ? eventStream(replayAnthropicMessage(message))
      : new Reply({ raw: dumpsCompact(message) });
  };
}

function notBoolean(input: unknown): ValidationError {
  const msg = "Input should be true, false or null";
  return new ValidationError([{ type: "literal_error", loc: ["body", "stream"], msg, input }]);
}

/**
 * Converts a model's answer. A failure is an unusable answer, not a bad request: another attempt may give
 * a better one, unless the target dialect cannot express such content.
 */
function convertAnswer<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== "CONVERSION_UNSUPPORTED" && code !== "CONVERSION_VALUE") throw error;
    throw new ProviderError({
      class: "invalid_response",
      retryable: code === "CONVERSION_VALUE",
      message: `the model's answer cannot be used: ${errorMessage(error)}`,
      cause: error,
    });
  }
}
