import { isObject } from "../../base/python/json/door.ts";
import type { ChatAssistantMessage, ChatCreateParams, ChatMessage } from "./chat-types.ts";
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
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  record,
  reject,
  str,
  stringRecord,
  textOr,
} from "./readers.ts";
import { checkingTokens, readTokens } from "./validate-items.ts";
import type { Location } from "./validation.ts";

const textPart: Fields = { type: oneOf("text"), text: str };
const texts = textOr(list(object(textPart)));
const userParts = list(
  byType({
    text: textPart,
    image_url: {
      type: str,
      image_url: object({ url: str, detail: optional(oneOf("auto", "low", "high")) }),
    },
    video_url: { type: str, video_url: either<unknown>(str, record) },
    audio_url: { type: str, audio_url: object({ url: str }) },
    input_audio: { type: str, input_audio: object({ data: str, format: oneOf("wav", "mp3") }) },
    file: {
      type: str,
      file: object({ file_data: optional(str), file_id: optional(str), filename: optional(str) }),
    },
  }),
);
const assistantParts = list(byType({ text: textPart, refusal: { type: str, refusal: str } }));
const toolCalls = list(
  byType({
    function: { id: str, type: str, function: object({ name: str, arguments: str }) },
    custom: { id: str, type: str, custom: object({ name: str, input: str }) },
  }),
);

const assistantFields = object<ChatAssistantMessage>({
  role: str,
  content: nullish(textOr(assistantParts)),
  tool_calls: nullish(toolCalls),
  refusal: nullish(str),
  name: optional(str),
  audio: nullish(object({ id: str })),
  function_call: nullish(object({ name: str, arguments: str })),
  reasoning_content: nullish(str),
  reasoning: nullish(str),
});

const assistant: Reader<ChatMessage> = (value, trail) => {
  const message = assistantFields(value, trail);
  const calls: unknown = message?.tool_calls;
  if (calls === null) delete message.tool_calls;
  const tokens = isObject(value) ? readTokens(value, trail) : undefined;
  // A bundle whose experts are null cannot be read, so it is left out.
  const isWhole = tokens !== undefined && isObject(value) && value["routed_experts"] !== null;
  return isWhole ? { ...message, ...tokens } : message;
};

const other = (fields: Fields) => checkingTokens(object<ChatMessage>(fields));
const instruction = other({ content: texts, role: str, name: optional(str) });
const byRole = new Map(
  Object.entries({
    system: instruction,
    developer: instruction,
    user: other({ content: textOr(userParts), role: str, name: optional(str) }),
    assistant,
    tool: other({ content: texts, role: str, tool_call_id: str }),
  }),
);
const role = oneOf(...byRole.keys());

const message: Reader<ChatMessage> = (value, trail) => {
  if (!isObject(value)) return reject(trail, "dict_type", "Input should be a valid dictionary", value);
  const reader = byRole.get(at("role", role, value["role"], trail));
  return reader === undefined ? (value as unknown as ChatMessage) : reader(value, trail);
};

const grammar = object({ definition: str, syntax: oneOf("lark", "regex") });
const customFormat = byType({ text: { type: str }, grammar: { type: str, grammar } });
const tool = byType({
  function: {
    type: str,
    function: object({
      name: str,
      description: optional(str),
      parameters: optional(record),
      strict: nullish(bool),
    }),
  },
  custom: {
    type: str,
    custom: object({ name: str, description: optional(str), format: optional(customFormat) }),
  },
});

const choiceWord = oneOf("none", "auto", "required");
const choiceObject = byType({
  function: { type: str, function: object({ name: str }) },
  custom: { type: str, custom: object({ name: str }) },
  allowed_tools: {
    type: str,
    allowed_tools: object({ mode: oneOf("auto", "required"), tools: list(record) }),
  },
});
const toolChoice: Reader<unknown> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

const intRecord: Reader<unknown> = (value, trail) => {
  const entries = record(value, trail);
  if (entries === undefined) return entries;
  return Object.fromEntries(Object.keys(entries).map((key) => [key, at(key, int, entries[key], trail)]));
};
const audio = object({
  format: oneOf("wav", "aac", "mp3", "flac", "opus", "pcm16"),
  voice: either<unknown>(str, object({ id: str })),
});
const responseFormat = byType({
  text: { type: str },
  json_object: { type: str },
  json_schema: {
    type: str,
    json_schema: object({
      name: str,
      description: optional(str),
      schema: optional(record),
      strict: nullish(bool),
    }),
  },
});
const location = object({
  city: optional(str),
  country: optional(str),
  region: optional(str),
  timezone: optional(str),
});
const webSearch = object({
  search_context_size: optional(oneOf("low", "medium", "high")),
  user_location: nullish(object({ approximate: location, type: oneOf("approximate") })),
});

const params: Fields = {
  messages: list(message),
  model: nullish(str),
  audio: nullish(audio),
  frequency_penalty: nullish(float),
  logit_bias: nullish(intRecord),
  logprobs: nullish(bool),
  max_completion_tokens: nullish(int),
  max_tokens: nullish(int),
  metadata: nullish(stringRecord),
  modalities: nullish(list(oneOf("text", "audio"))),
  n: nullish(int),
  parallel_tool_calls: optional(bool),
  prediction: nullish(object({ content: texts, type: oneOf("content") })),
  presence_penalty: nullish(float),
  reasoning_effort: nullish(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")),
  response_format: nullish(responseFormat),
  seed: nullish(int),
  service_tier: nullish(oneOf("auto", "default", "flex", "scale", "priority")),
  stop: nullish(textOr(list(str))),
  store: nullish(bool),
  stream: nullish(notStreaming),
  stream_options: nullish(object({ include_obfuscation: optional(bool), include_usage: optional(bool) })),
  temperature: nullish(float),
  tool_choice: nullish(toolChoice),
  tools: nullish(list(tool)),
  top_logprobs: nullish(int),
  top_p: nullish(float),
  user: nullish(str),
  web_search_options: nullish(webSearch),
};

/** The keys of a chat request that are checked. Other keys concern only the client and the endpoint. */
export const CHAT_PARAM_KEYS: ReadonlySet<string> = new Set(Object.keys(params));

const readParams = object<ChatCreateParams>(params, "keep");

/**
 * Reads the body of a chat request. Unknown keys are kept, because engines have their own settings (`top_k`,
 * `chat_template_kwargs`) that change the sampling.
 */
export function parseChatParams(value: unknown, prefix: Location = []): ChatCreateParams {
  return readWith(readParams, value, prefix);
}
