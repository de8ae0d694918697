import type { JsonObject } from "../../src/python/json/json-object.ts";
import { convertAnthropicMessage } from "../../src/wire/convert/convert-anthropic-message.ts";
import { convertAnthropicRequest } from "../../src/wire/convert/convert-anthropic-request.ts";
import { convertChatCompletion } from "../../src/wire/convert/convert-chat-completion.ts";
import { convertChatRequest } from "../../src/wire/convert/convert-chat-request.ts";
import { chatMessagesToItems } from "../../src/wire/convert/convert-chat-to-items.ts";
import { convertResponsesToChat } from "../../src/wire/convert/convert-responses-to-chat.ts";
import { convertToAnthropicMessage } from "../../src/wire/convert/convert-to-anthropic-message.ts";
import { convertToAnthropicRequest } from "../../src/wire/convert/convert-to-anthropic-request.ts";
import { stripMcpPrefix } from "../../src/wire/convert/mcp-tool-name.ts";
import { splitItems } from "../../src/wire/convert/split-items.ts";
import { parseThinkTags, wrapInThinkTags } from "../../src/wire/convert/think-tags.ts";
import {
  accumulateUsage,
  normalizeUsage,
  readStrictUsage,
  sumUsage,
  type Usage,
} from "../../src/wire/convert/usage.ts";
import { rolloutIdOf } from "../../src/wire/rollout-id.ts";
import type { AnthropicMessage, AnthropicThinking } from "../../src/wire/schemas/anthropic-types.ts";
import type { ChatCompletion, ChatMessage } from "../../src/wire/schemas/chat-types.ts";
import type { ResponseInputItem } from "../../src/wire/schemas/item-types.ts";
import { list, nullable, readWith } from "../../src/wire/schemas/readers.ts";
import { parseCreateParams, parseResponse } from "../../src/wire/schemas/responses.ts";
import { parseChatParams } from "../../src/wire/schemas/validate-chat.ts";
import { parseChatCompletion } from "../../src/wire/schemas/validate-completion.ts";
import { readInputItem } from "../../src/wire/schemas/validate-items.ts";
import { replayAnthropicMessage } from "../../src/wire/stream/replay-anthropic.ts";
import { replayChatCompletion } from "../../src/wire/stream/replay-chat.ts";
import { replayResponse, replayResponseFailure } from "../../src/wire/stream/replay-responses.ts";
import { sanitizeStreamingChat } from "../../src/wire/stream/sanitize-streaming-chat.ts";
import {
  type NamespaceMap,
  sanitizeStreamingResponses,
} from "../../src/wire/stream/sanitize-streaming-responses.ts";
import { decodeSse, encodeSse, type SseEvent } from "../../src/wire/stream/sse.ts";
import { callVllm, outboundBody, type VllmCaseInput } from "./conversion-vllm.ts";

interface Options {
  return_token_id_information?: boolean;
  uses_reasoning_parser?: boolean;
}

/** The inputs of all directions; each direction uses a few of them. */
export interface CaseInput extends VllmCaseInput {
  request: JsonObject;
  options?: Options;
  completion: ChatCompletion;
  messages: ChatMessage[];
  content: string;
  texts: string[];
  items: ResponseInputItem[];
  usages: Usage[];
  usage: unknown;
  response: JsonObject;
  model: string;
  max_tokens: number;
  extra_body?: JsonObject;
  thinking?: AnthropicThinking;
  thinking_budget_tokens?: number;
  message: unknown;
  namespace_map?: NamespaceMap;
  include_usage?: boolean;
  name: string;
  server_name: string;
  body: JsonObject;
}

export interface ConversionCase {
  name: string;
  direction: string;
  input: CaseInput;
  expected: unknown;
  compare: "exact" | "drop_nulls";
}

/** The golden cases record what the original refuses, so nothing is converted beyond that here. */
const itemOptions = (options: Options = {}) => ({
  returnTokenIds: options.return_token_id_information ?? false,
  usesReasoningParser: options.uses_reasoning_parser ?? true,
  refuseLikeOriginal: true,
});

const readUsages = (usages: unknown) => readWith(list(nullable(readStrictUsage)), usages, []);

/** Events as a client reads them from the wire. */
const overTheWire = (events: Iterable<SseEvent>) => decodeSse([...events].map(encodeSse).join(""));

export const directions: Record<string, (input: CaseInput) => unknown> = {
  responses_request_to_chat_request: ({ request, options }) =>
    convertResponsesToChat(parseCreateParams(request), itemOptions(options)),
  chat_completion_to_response: ({ completion, request, options }) =>
    convertChatCompletion(
      parseChatCompletion(completion, [], { refuseLikeOriginal: true }),
      parseCreateParams(request),
      itemOptions(options),
    ),
  chat_messages_to_response_items: ({ messages, options }) =>
    chatMessagesToItems(messages, itemOptions(options)),
  chat_request_to_responses_request: ({ request, options }) =>
    convertChatRequest(parseChatParams(request, [], { likeOriginal: true }), itemOptions(options)),
  think_parse: ({ content }) => parseThinkTags(content),
  think_wrap: ({ texts }) => wrapInThinkTags(texts),
  split_items: ({ items }) => {
    const { input, output } = splitItems(readWith(list(readInputItem), items, []));
    return { input_count: input.length, output_count: output.length };
  },
  usage_accumulate: ({ usages }) => {
    let total: Usage | null = null;
    for (const usage of readUsages(usages)) total = accumulateUsage(total, usage);
    return total;
  },
  usage_sum: ({ usages }) => sumUsage(readWith(list(readStrictUsage), usages, [])),
  usage_normalize: ({ usage }) => normalizeUsage(usage),
  anthropic_request_to_responses_request: ({ request }) =>
    convertAnthropicRequest(request, { refuseLikeOriginal: true }),
  response_to_anthropic_message: ({ response, model }) =>
    convertToAnthropicMessage(parseResponse(response, [], { refuseLikeOriginal: true }), {
      model,
      likeOriginal: true,
    }),
  responses_request_to_anthropic_request: ({ request, model, max_tokens, extra_body, thinking, ...more }) =>
    convertToAnthropicRequest(parseCreateParams(request), {
      model,
      maxTokens: max_tokens,
      extraBody: extra_body,
      thinking,
      thinkingBudgetTokens: more.thinking_budget_tokens,
      likeOriginal: true,
    }),
  anthropic_message_to_response: ({ message, request, model }) =>
    convertAnthropicMessage(message, parseCreateParams(request), { model, refuseLikeOriginal: true }),
  anthropic_message_to_sse: ({ message }) =>
    overTheWire(replayAnthropicMessage(message as AnthropicMessage, { likeOriginal: true })),
  response_to_sse: ({ response, namespace_map }) =>
    overTheWire(replayResponse(response, namespace_map, { likeOriginal: true })),
  response_failure_to_sse: ({ message }) => overTheWire(replayResponseFailure(String(message))),
  chat_completion_to_sse: ({ completion, include_usage }) =>
    overTheWire(replayChatCompletion(completion, { includeUsage: include_usage, likeOriginal: true })),
  sanitize_streaming_responses: ({ request }) => {
    const { request: clean, namespaces } = sanitizeStreamingResponses(request);
    return { request: clean, namespace_map: namespaces };
  },
  sanitize_streaming_chat: ({ request }) => {
    const { request: clean, includeUsage } = sanitizeStreamingChat(request, { likeOriginal: true });
    return { request: clean, include_usage: includeUsage };
  },
  vllm_outbound_chat_body: (input) => outboundBody(input),
  vllm_inbound_chat_completion: (input) => callVllm(input),
  mcp_tool_name: ({ name, server_name }) => stripMcpPrefix(name, server_name),
  rollout_id: ({ body }) => rolloutIdOf(body),
};
