import type { JsonObject } from "../../python/json/json-object.ts";
import { convertAnthropicMessage } from "../../wire/convert/convert-anthropic-message.ts";
import { convertAnthropicRequest } from "../../wire/convert/convert-anthropic-request.ts";
import { convertChatCompletion } from "../../wire/convert/convert-chat-completion.ts";
import { chatMessagesToItems } from "../../wire/convert/convert-chat-to-items.ts";
import { mergeReasoning } from "../../wire/convert/vllm-completion.ts";
import type { AnthropicMessage } from "../../wire/schemas/anthropic-types.ts";
import type { ChatCompletion, ChatMessage } from "../../wire/schemas/chat-types.ts";
import {
  parseResponse,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
} from "../../wire/schemas/responses.ts";
import { replayAnthropicMessage } from "../../wire/stream/replay-anthropic.ts";
import { replayChatCompletion } from "../../wire/stream/replay-chat.ts";
import { replayResponse } from "../../wire/stream/replay-responses.ts";
import { sanitizeStreamingChat } from "../../wire/stream/sanitize-streaming-chat.ts";
import { sanitizeStreamingResponses } from "../../wire/stream/sanitize-streaming-responses.ts";
import type { SseEvent } from "../../wire/stream/sse.ts";

/** Reads requests and answers of one of the three APIs. */
export interface ModelDialect {
  /** The request without streaming, and a function that turns its answer into the events of a stream. */
  plain(body: JsonObject): { plain: JsonObject; replay(answer: JsonObject): Iterable<SseEvent> };
  /** The conversation in a request. */
  question(body: JsonObject): readonly ResponseInputItem[];
  response(answer: JsonObject): Response;
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
export const modelDialects: Readonly<Record<string, ModelDialect>> = {
  "/v1/responses": responses,
  "/v1/chat/completions": chat,
  "/v1/messages": messages,
};
