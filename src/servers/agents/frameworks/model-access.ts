import { errorMessage } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import {
  chatMessagesToItems,
  convertAnthropicMessage,
  convertAnthropicRequest,
  convertChatCompletion,
  mergeReasoning,
} from "../../../wire/convert/door.ts";
import {
  type AnthropicMessage,
  type ChatCompletion,
  type ChatMessage,
  type Response as ModelResponse,
  parseResponse,
  type ResponseCreateParams,
  type ResponseInputItem,
} from "../../../wire/schemas/door.ts";
import {
  encodeSse,
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  type SseEvent,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "../../../wire/stream/door.ts";
import type { Cookies } from "../../calls/cookies.ts";
import { isServerCallError } from "../../calls/errors.ts";
import { callServer, type ServerClient } from "../../calls/server-client.ts";
import type { RolloutScope } from "../../definitions/define-agent.ts";
import { modelPrefixOf } from "../response-of.ts";
import type { LoopRecord } from "./loop-record.ts";

/** The type of the global `fetch`. Clients of models accept a replacement. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The settings with which a framework calls the model of the rollout. */
export interface ModelAccess {
  name: string;
  /** Address of the model server with the rollout's prefix and `/v1`. */
  baseUrl: string;
  /** Clients require a key, although model servers of a run do not. */
  apiKey: string;
  /** For the framework's client. It records, counts and limits calls, and reports their root cause. */
  fetch: Fetch;
}

export interface ModelAccessOptions {
  client: ServerClient;
  modelServer: string;
  model: string;
  rollout: RolloutScope;
  params: ResponseCreateParams;
  signal: AbortSignal;
  timeoutMs: number | null;
  /** Maximum number of model calls; null: no limit. */
  maxSteps: number | null;
  record: LoopRecord;
}

/** The loop has reached its limit of model calls. */
export class StepLimitError extends Error {
  constructor(steps: number) {
    super(`the agent has made its ${steps} model calls (max_steps)`);
  }
}

/** Gives one rollout access to its model. */
export function modelAccess(options: ModelAccessOptions): ModelAccess {
  const { client, modelServer, rollout } = options;
  return {
    name: options.model,
    baseUrl: `${client.baseUrl(modelServer)}${modelPrefixOf(rollout)}/v1`,
    apiKey: "local",
    fetch: recordedFetch(options),
  };
}

function recordedFetch(options: ModelAccessOptions): Fetch {
  const { client, modelServer, rollout, params, signal, timeoutMs, maxSteps, record } = options;
  let cookies: Cookies | undefined;
  let asked = 0;
  return async (input, init) => {
    const request = new Request(input, init);
    const route = /\/v1\/[\w/]+$/.exec(new URL(request.url).pathname)?.[0] ?? "";
    const dialect = Object.hasOwn(modelDialects, route) ? modelDialects[route] : undefined;
    if (dialect === undefined || request.method !== "POST")
      return rejection(404, `${request.method} ${route || request.url} is not a route of model servers`);
    const body: unknown = await request.json();
    if (!isObject(body)) return rejection(422, "the body is not a JSON object");
    if (maxSteps && asked >= maxSteps) {
      record.failure = new StepLimitError(maxSteps);
      throw record.failure;
    }
    asked++;
    const startedAt = Date.now();
    rollout.onStage("model", modelServer);
    try {
      const { plain, replay } = dialect.plain({ ...dialect.sampling(params, body), ...body });
      record.outputsIn(dialect.question(plain));
      const reply = await callServer(client, {
        server: modelServer,
        path: `${modelPrefixOf(rollout)}${route}`,
        body: plain,
        stage: "model",
        signal: AbortSignal.any([signal, request.signal]),
        idempotent: true,
        timeoutMs,
        timeoutKey: "model_call_timeout_seconds",
        // Sending the model server's cookie back keeps a conversation on one replica.
        cookies,
      });
      cookies = reply.cookies;
      const answer = reply.json() as JsonObject;
      record.modelCall({ startedAt, question: dialect.question(plain), response: dialect.response(answer) });
      return body["stream"] === true ? streamed(replay(answer)) : Response.json(answer);
    } catch (error) {
      record.failure = error;
      const status = isServerCallError(error) ? error.status : undefined;
      return rejection(status ?? 502, errorMessage(error));
    }
  };
}

/** An error response. The call was already retried, so the framework must not retry it. */
function rejection(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status, headers: { "x-should-retry": "false" } });
}

function streamed(events: Iterable<SseEvent>): Response {
  return new Response([...events].map(encodeSse).join(""), {
    headers: { "content-type": "text/event-stream; charset=utf-8" },
  });
}

/** Reads requests and answers of one of the three APIs. */
interface ModelDialect {
  /** The request without streaming, and a function that turns its answer into the events of a stream. */
  plain(body: JsonObject): { plain: JsonObject; replay(answer: JsonObject): Iterable<SseEvent> };
  /** The conversation in a request. */
  question(body: JsonObject): readonly ResponseInputItem[];
  response(answer: JsonObject): ModelResponse;
  /** Sampling settings of the row, for those that the framework does not set. */
  sampling(params: ResponseCreateParams, body: JsonObject): JsonObject;
}

const responses: ModelDialect = {
  plain(body) {
    if (body["stream"] !== true) return { plain: body, replay: () => [] };
    const { request, namespaces } = sanitizeStreamingResponses(body);
    return { plain: request, replay: (answer) => replayResponse(answer, namespaces) };
  },
  question({ input }) {
    if (typeof input === "string") return [{ role: "user", content: input, type: "message" }];
    return Array.isArray(input) ? input : [];
  },
  response: (answer) => parseResponse(answer, []),
  sampling: (params) => settings(params, "max_output_tokens"),
};

const chat: ModelDialect = {
  plain(body) {
    if (body["stream"] !== true) return { plain: body, replay: () => [] };
    const { request, includeUsage } = sanitizeStreamingChat(body);
    return {
      plain: request,
      replay: (answer) => replayChatCompletion(answer as unknown as ChatCompletion, { includeUsage }),
    };
  },
  question: ({ messages }) => chatMessagesToItems((messages ?? []) as ChatMessage[]),
  response(answer) {
    const completion = mergeReasoning(answer as unknown as ChatCompletion, {});
    return convertChatCompletion(
      completion,
      { input: [], model: completion.model },
      { returnTokenIds: true },
    );
  },
  sampling: (params, body) =>
    settings(params, body["max_tokens"] == null ? "max_completion_tokens" : undefined),
};

const messages: ModelDialect = {
  plain({ stream: _, ...body }) {
    return {
      plain: body,
      replay: (answer) => replayAnthropicMessage(answer as unknown as AnthropicMessage),
    };
  },
  question: (body) => responses.question(convertAnthropicRequest(body) as unknown as JsonObject),
  response: (answer) => convertAnthropicMessage(answer, { input: [] }, { model: String(answer["model"]) }),
  // Clients of this API must set the maximum number of tokens.
  sampling: (params) => settings(params),
};

function settings(
  { temperature, top_p, max_output_tokens }: ResponseCreateParams,
  maximum?: string,
): JsonObject {
  return {
    ...(temperature != null && { temperature }),
    ...(top_p != null && { top_p }),
    ...(max_output_tokens != null && maximum !== undefined && { [maximum]: max_output_tokens }),
  };
}

/** The dialects by route of the model server. */
const modelDialects: Readonly<Record<string, ModelDialect>> = {
  "/v1/responses": responses,
  "/v1/chat/completions": chat,
  "/v1/messages": messages,
};
