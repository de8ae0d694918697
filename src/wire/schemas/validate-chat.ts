import { isObject } from "../../python/json/json-object.ts";
import type {
  ChatAssistantMessage,
  ChatCreateParams,
  ChatMessage,
  ChatTool,
  ChatToolCall,
} from "./chat-types.ts";
import {
  at,
  bool,
  byType,
  either,
  type Fields,
  float,
  int,
  list,
  notStreaming,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  record,
  refuse,
  str,
  stringRecord,
  type Unknowns,
} from "./readers.ts";
import { readTokens } from "./validate-tokens.ts";
import type { Location } from "./validation.ts";

const textPart = object({ type: oneOf("text"), text: str }, "drop");
const userPart = byType<unknown>({
  text: textPart,
  image_url: object(
    { type: str, image_url: object({ url: str, detail: optional(oneOf("auto", "low", "high")) }, "drop") },
    "drop",
  ),
  video_url: object({ type: str, video_url: either<unknown>(str, record) }, "drop"),
  audio_url: object({ type: str, audio_url: object({ url: str }, "drop") }, "drop"),
  input_audio: object(
    { type: str, input_audio: object({ data: str, format: oneOf("wav", "mp3") }, "drop") },
    "drop",
  ),
  file: object(
    {
      type: str,
      file: object({ file_data: optional(str), file_id: optional(str), filename: optional(str) }, "drop"),
    },
    "drop",
  ),
});
const assistantPart = byType<unknown>({
  text: textPart,
  refusal: object({ type: str, refusal: str }, "drop"),
});

function textOr(parts: Reader<unknown>): Reader<unknown> {
  const readParts = list(parts);
  return (value, trail) => (typeof value === "string" ? value : readParts(value, trail));
}

const toolCall = byType<ChatToolCall>({
  function: object({ id: str, type: str, function: object({ name: str, arguments: str }, "drop") }, "drop"),
  custom: object({ id: str, type: str, custom: object({ name: str, input: str }, "drop") }, "drop"),
});

const instructionFields: Fields = { content: textOr(textPart), role: str, name: optional(str) };
const assistantTable: Fields = {
  role: str,
  content: optional(nullable(textOr(assistantPart))),
  tool_calls: optional(nullable(list(toolCall))),
  refusal: optional(nullable(str)),
  name: optional(str),
  audio: optional(nullable(object({ id: str }, "drop"))),
  function_call: optional(nullable(object({ name: str, arguments: str }, "drop"))),
};
const reasoningTable: Fields = {
  reasoning_content: optional(nullable(str)),
  reasoning: optional(nullable(str)),
};

function assistantReader(fields: Fields, keepsNullCalls: boolean): Reader<ChatMessage> {
  const read = object<ChatAssistantMessage>(fields, "drop");
  return (value, trail) => {
    const message = read(value, trail);
    const calls: unknown = message?.tool_calls;
    if (calls === null && !keepsNullCalls) delete message.tool_calls;
    const tokens = isObject(value) ? readTokens(value, trail) : undefined;
    // Experts that are null make the whole bundle unreadable, and it is left out.
    const isWhole = tokens !== undefined && isObject(value) && value["routed_experts"] !== null;
    return isWhole ? { ...message, ...tokens } : message;
  };
}

function withTokensChecked(reader: Reader<ChatMessage>): Reader<ChatMessage> {
  return (value, trail) => {
    if (isObject(value)) readTokens(value, trail);
    return reader(value, trail);
  };
}

const others: Record<string, Reader<ChatMessage>> = {
  system: withTokensChecked(object(instructionFields, "drop")),
  developer: withTokensChecked(object(instructionFields, "drop")),
  user: withTokensChecked(object({ content: textOr(userPart), role: str, name: optional(str) }, "drop")),
  tool: withTokensChecked(object({ content: textOr(textPart), role: str, tool_call_id: str }, "drop")),
};
const role = oneOf("system", "developer", "user", "assistant", "tool");

function messageReader(assistant: Reader<ChatMessage>): Reader<ChatMessage> {
  const byRole = new Map(Object.entries({ ...others, assistant }));
  return (value, trail) => {
    if (!isObject(value)) return refuse(trail, "dict_type", "Input should be a valid dictionary", value);
    trail.loc.push("role");
    const known = role(value["role"], trail);
    trail.loc.pop();
    const reader = known === undefined ? undefined : byRole.get(known);
    return reader === undefined ? (value as unknown as ChatMessage) : reader(value, trail);
  };
}

const grammar = object({ definition: str, syntax: oneOf("lark", "regex") }, "drop");
const customFormat = byType<unknown>({
  text: object({ type: str }, "drop"),
  grammar: object({ type: str, grammar }, "drop"),
});
const tool = byType<ChatTool>({
  function: object(
    {
      type: str,
      function: object(
        {
          name: str,
          description: optional(str),
          parameters: optional(record),
          strict: optional(nullable(bool)),
        },
        "drop",
      ),
    },
    "drop",
  ),
  custom: object(
    {
      type: str,
      custom: object({ name: str, description: optional(str), format: optional(customFormat) }, "drop"),
    },
    "drop",
  ),
});

const choiceWord = oneOf("none", "auto", "required");
const choiceObject = byType<unknown>({
  function: object({ type: str, function: object({ name: str }, "drop") }, "drop"),
  custom: object({ type: str, custom: object({ name: str }, "drop") }, "drop"),
  allowed_tools: object(
    {
      type: str,
      allowed_tools: object({ mode: oneOf("auto", "required"), tools: list(record) }, "drop"),
    },
    "drop",
  ),
});
const toolChoice: Reader<unknown> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

const stop: Reader<unknown> = (value, trail) => (typeof value === "string" ? value : list(str)(value, trail));

const intRecord: Reader<unknown> = (value, trail) => {
  const entries = record(value, trail);
  if (entries === undefined) return entries;
  return Object.fromEntries(Object.keys(entries).map((key) => [key, at(key, int, entries[key], trail)]));
};
const audio = object(
  {
    format: oneOf("wav", "aac", "mp3", "flac", "opus", "pcm16"),
    voice: either<unknown>(str, object({ id: str }, "drop")),
  },
  "drop",
);
const prediction = object({ content: textOr(textPart), type: oneOf("content") }, "drop");
const responseFormat = byType<unknown>({
  text: object({ type: str }, "drop"),
  json_object: object({ type: str }, "drop"),
  json_schema: object(
    {
      type: str,
      json_schema: object(
        {
          name: str,
          description: optional(str),
          schema: optional(record),
          strict: optional(nullable(bool)),
        },
        "drop",
      ),
    },
    "drop",
  ),
});
const place = object(
  { city: optional(str), country: optional(str), region: optional(str), timezone: optional(str) },
  "drop",
);
const webSearch = object(
  {
    search_context_size: optional(oneOf("low", "medium", "high")),
    user_location: optional(nullable(object({ approximate: place, type: oneOf("approximate") }, "drop"))),
  },
  "drop",
);
const streamOptions = object({ include_obfuscation: optional(bool), include_usage: optional(bool) }, "drop");

const settings: Fields = {
  model: optional(nullable(str)),
  audio: optional(nullable(audio)),
  frequency_penalty: optional(nullable(float)),
  logit_bias: optional(nullable(intRecord)),
  logprobs: optional(nullable(bool)),
  max_completion_tokens: optional(nullable(int)),
  max_tokens: optional(nullable(int)),
  metadata: optional(nullable(stringRecord)),
  modalities: optional(nullable(list(oneOf("text", "audio")))),
  n: optional(nullable(int)),
  parallel_tool_calls: optional(bool),
  prediction: optional(nullable(prediction)),
  presence_penalty: optional(nullable(float)),
  reasoning_effort: optional(nullable(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"))),
  response_format: optional(nullable(responseFormat)),
  seed: optional(nullable(int)),
  service_tier: optional(nullable(oneOf("auto", "default", "flex", "scale", "priority"))),
  stop: optional(nullable(stop)),
  store: optional(nullable(bool)),
  stream: optional(nullable(notStreaming)),
  stream_options: optional(nullable(streamOptions)),
  temperature: optional(nullable(float)),
  tool_choice: optional(nullable(toolChoice)),
  tools: optional(nullable(list(tool))),
  top_logprobs: optional(nullable(int)),
  top_p: optional(nullable(float)),
  user: optional(nullable(str)),
  web_search_options: optional(nullable(webSearch)),
};

/** The keys of a chat request that are checked; the rest is between the client and the endpoint. */
export const CHAT_PARAM_KEYS: ReadonlySet<string> = new Set(["messages", ...Object.keys(settings)]);

const paramsReader = (assistant: Reader<ChatMessage>, unknowns: Unknowns) =>
  object<ChatCreateParams>({ messages: list(messageReader(assistant)), ...settings }, unknowns);
const readParams = paramsReader(assistantReader({ ...assistantTable, ...reasoningTable }, false), "keep");
const readParamsLikeOriginal = paramsReader(assistantReader(assistantTable, true), "drop");

/** How a chat request is read. */
export interface ChatParamsOptions {
  /** Keep no more and no less than the Python original: no keys it does not know, no thoughts of earlier turns, but `tool_calls: null`. */
  likeOriginal?: boolean;
}

/**
 * Reads the body of a chat request; unlike the Responses API, unknown keys are not refused. They are kept, because engines have
 * settings of their own (`top_k`, `chat_template_kwargs`) that change what is sampled.
 */
export function parseChatParams(
  value: unknown,
  prefix: Location = [],
  { likeOriginal = false }: ChatParamsOptions = {},
): ChatCreateParams {
  return readWith(likeOriginal ? readParamsLikeOriginal : readParams, value, prefix);
}
