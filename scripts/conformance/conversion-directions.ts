import type { JsonObject } from "../../src/base/python/json/json-object.ts";
import { rolloutIdOf } from "../../src/servers/calls/rollout-id.ts";
import {
  convertAnthropicMessage,
  convertAnthropicRequest,
} from "../../src/wire/convert/convert-anthropic-to-responses.ts";
import {
  chatMessagesToItems,
  convertChatCompletion,
  convertChatRequest,
} from "../../src/wire/convert/convert-chat-to-responses.ts";
import { convertResponsesToChat } from "../../src/wire/convert/convert-responses-to-chat.ts";
import { convertToAnthropicMessage } from "../../src/wire/convert/convert-to-anthropic-message.ts";
import { convertToAnthropicRequest } from "../../src/wire/convert/convert-to-anthropic-request.ts";
import { parseThinkTags, wrapInThinkTags } from "../../src/wire/convert/think-tags.ts";
import { accumulateUsage, normalizeUsage, sumUsage, type Usage } from "../../src/wire/convert/usage.ts";
import { splitItems, stripMcpPrefix } from "../../src/wire/read-output.ts";
import type { AnthropicMessage, AnthropicThinking } from "../../src/wire/schemas/anthropic-types.ts";
import type { ChatCompletion, ChatMessage } from "../../src/wire/schemas/chat-types.ts";
import type { ResponseInputItem } from "../../src/wire/schemas/item-types.ts";
import { list, nullable, readWith } from "../../src/wire/schemas/readers.ts";
import { parseCreateParams } from "../../src/wire/schemas/responses.ts";
import { readInputItem } from "../../src/wire/schemas/validate-items.ts";
import {
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  replayResponseFailure,
} from "../../src/wire/stream/replay.ts";
import {
  type NamespaceMap,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "../../src/wire/stream/sanitize-streaming.ts";
import { decodeSse, encodeSse, type SseEvent } from "../../src/wire/stream/sse.ts";
import { callVllm, outboundBody, type VllmCaseInput } from "./conversion-vllm.ts";
import {
  checkBlocks,
  checkChatRequest,
  checkCompletion,
  checkMessages,
  checkRequestForChat,
  fewChatChunks,
  fewResponseEvents,
  itemOptions,
  markForMessages,
  readChatParams,
  restoreInMessages,
  withKnownKeys,
  withoutHiddenThoughts,
  withoutSignatures,
} from "./original.ts";
import { parseChatCompletion, parseResponse, readUsage } from "./original-schemas.ts";

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

/** Events as a client reads them from the wire. */
const overTheWire = (events: Iterable<SseEvent>) => decodeSse([...events].map(encodeSse).join(""));

export const directions: Record<string, (input: CaseInput) => unknown> = {
  responses_request_to_chat_request: ({ request, options }) =>
    convertResponsesToChat(checkRequestForChat(parseCreateParams(request)), itemOptions(options)),
  chat_completion_to_response: ({ completion, request, options }) =>
    convertChatCompletion(
      checkCompletion(parseChatCompletion(completion)),
      parseCreateParams(request),
      itemOptions(options),
    ),
  chat_messages_to_response_items: ({ messages, options }) =>
    chatMessagesToItems(checkMessages(messages), itemOptions(options)),
  chat_request_to_responses_request: ({ request, options }) =>
    convertChatRequest(checkChatRequest(readChatParams(request)), itemOptions(options)),
  think_parse: ({ content }) => parseThinkTags(content),
  think_wrap: ({ texts }) => wrapInThinkTags(texts),
  split_items: ({ items }) => {
    const { input, output } = splitItems(readWith(list(readInputItem), items, []));
    return { input_count: input.length, output_count: output.length };
  },
  usage_accumulate: ({ usages }) => {
    let total: Usage | null = null;
    for (const usage of readWith(list(nullable(readUsage)), usages, []))
      total = accumulateUsage(total, usage);
    return total;
  },
  usage_sum: ({ usages }) => sumUsage(readWith(list(readUsage), usages, [])),
  usage_normalize: ({ usage }) => normalizeUsage(usage),
  anthropic_request_to_responses_request: ({ request }) => {
    const { messages } = request;
    for (const message of Array.isArray(messages) ? messages : []) checkBlocks(message);
    return convertAnthropicRequest(request);
  },
  response_to_anthropic_message: (input) => {
    const response = parseResponse(input.response);
    const output = withoutHiddenThoughts(response.output);
    return convertToAnthropicMessage({ ...response, output }, { model: input.model });
  },
  responses_request_to_anthropic_request: ({ request, model, max_tokens, extra_body, thinking, ...more }) => {
    const params = parseCreateParams(request);
    const body = convertToAnthropicRequest(markForMessages(params), {
      model,
      maxTokens: max_tokens,
      extraBody: extra_body,
      thinking,
      thinkingBudgetTokens: more.thinking_budget_tokens,
    });
    return restoreInMessages(body, params);
  },
  anthropic_message_to_response: ({ message, request, model }) =>
    convertAnthropicMessage(checkBlocks(message), parseCreateParams(request), { model }),
  anthropic_message_to_sse: ({ message }) =>
    overTheWire(withoutSignatures(replayAnthropicMessage(checkBlocks(message) as AnthropicMessage))),
  response_to_sse: ({ response, namespace_map }) =>
    overTheWire(fewResponseEvents(replayResponse(response, namespace_map), response)),
  response_failure_to_sse: ({ message }) => overTheWire(replayResponseFailure(String(message))),
  chat_completion_to_sse: ({ completion, include_usage }) =>
    overTheWire(fewChatChunks(replayChatCompletion(completion, { includeUsage: include_usage }))),
  sanitize_streaming_responses: ({ request }) => {
    const { request: clean, namespaces } = sanitizeStreamingResponses(request);
    return { request: clean, namespace_map: namespaces };
  },
  sanitize_streaming_chat: ({ request }) => {
    const { request: clean, includeUsage } = sanitizeStreamingChat(request);
    return { request: withKnownKeys(clean), include_usage: includeUsage };
  },
  vllm_outbound_chat_body: (input) => outboundBody(input),
  vllm_inbound_chat_completion: (input) => callVllm(input),
  mcp_tool_name: ({ name, server_name }) => stripMcpPrefix(name, server_name),
  rollout_id: ({ body }) => rolloutIdOf(body),
};
