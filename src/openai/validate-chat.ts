import { dumps } from "../python/json-dumps.ts";
import type {
  ChatAssistantMessage,
  ChatChoice,
  ChatCompletion,
  ChatCreateParams,
  ChatMessage,
  ChatTool,
  ChatToolCall,
} from "./chat-types.ts";
import {
  bool,
  byType,
  type Fields,
  float,
  int,
  isObject,
  list,
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
} from "./readers.ts";
import { readTokens } from "./validate-items.ts";
import type { Location } from "./validation.ts";

const textPart = object({ type: str, text: str }, "drop");
const userPart = byType<unknown>({
  text: textPart,
  image_url: object(
    { type: str, image_url: object({ url: str, detail: optional(oneOf("auto", "low", "high")) }, "drop") },
    "drop",
  ),
  video_url: object({ type: str, video_url: object({ url: str }, "drop") }, "drop"),
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
const assistantFields = object<ChatAssistantMessage>(
  {
    role: str,
    content: optional(nullable(textOr(assistantPart))),
    tool_calls: optional(nullable(list(toolCall))),
    refusal: optional(nullable(str)),
    name: optional(str),
    reasoning_content: optional(nullable(str)),
    reasoning: optional(nullable(str)),
  },
  "drop",
);
const assistant: Reader<ChatMessage> = (value, trail) => {
  const message = assistantFields(value, trail);
  const tokens = isObject(value) ? readTokens(value, trail) : undefined;
  if (message?.tool_calls === null) delete (message as { tool_calls?: unknown }).tool_calls;
  return tokens === undefined ? message : { ...message, ...tokens };
};

const byRole: Record<string, Reader<ChatMessage>> = {
  system: object(instructionFields, "drop"),
  developer: object(instructionFields, "drop"),
  user: object({ content: textOr(userPart), role: str, name: optional(str) }, "drop"),
  assistant,
  tool: object({ content: textOr(textPart), role: str, tool_call_id: str }, "drop"),
};
const role = oneOf("system", "developer", "user", "assistant", "tool");

const message: Reader<ChatMessage> = (value, trail) => {
  if (!isObject(value)) return refuse(trail, "dict_type", "Input should be a valid dictionary", value);
  trail.loc.push("role");
  const known = role(value["role"], trail);
  trail.loc.pop();
  const reader = known === undefined ? undefined : byRole[known];
  return reader === undefined ? (value as unknown as ChatMessage) : reader(value, trail);
};

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
      custom: object({ name: str, description: optional(str), format: optional(record) }, "drop"),
    },
    "drop",
  ),
});

const choiceWord = oneOf("none", "auto", "required");
const choiceObject = byType<unknown>({
  function: object({ type: str, function: object({ name: str }, "drop") }, "drop"),
  custom: object({ type: str, custom: object({ name: str }, "drop") }, "drop"),
});
const toolChoice: Reader<unknown> = (value, trail) =>
  isObject(value) ? choiceObject(value, trail) : choiceWord(value, trail);

const stop: Reader<unknown> = (value, trail) => (typeof value === "string" ? value : list(str)(value, trail));

const params: Fields = {
  messages: list(message),
  model: optional(str),
  audio: optional(nullable(record)),
  frequency_penalty: optional(nullable(float)),
  logit_bias: optional(nullable(record)),
  logprobs: optional(nullable(bool)),
  max_completion_tokens: optional(nullable(int)),
  max_tokens: optional(nullable(int)),
  metadata: optional(nullable(stringRecord)),
  modalities: optional(nullable(list(oneOf("text", "audio")))),
  n: optional(nullable(int)),
  parallel_tool_calls: optional(bool),
  prediction: optional(nullable(record)),
  presence_penalty: optional(nullable(float)),
  prompt_cache_key: optional(nullable(str)),
  reasoning_effort: optional(nullable(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"))),
  response_format: optional(nullable(record)),
  safety_identifier: optional(nullable(str)),
  seed: optional(nullable(int)),
  service_tier: optional(nullable(oneOf("auto", "default", "flex", "scale", "priority"))),
  stop: optional(nullable(stop)),
  store: optional(nullable(bool)),
  stream: optional(nullable(oneOf(false))),
  temperature: optional(nullable(float)),
  tool_choice: optional(toolChoice),
  tools: optional(list(tool)),
  top_logprobs: optional(nullable(int)),
  top_p: optional(nullable(float)),
  user: optional(nullable(str)),
  verbosity: optional(nullable(oneOf("low", "medium", "high"))),
  web_search_options: optional(nullable(record)),
};

/** The keys of a chat request that are read; the rest is ignored. */
export const CHAT_PARAM_KEYS: ReadonlySet<string> = new Set(Object.keys(params));

const readChatParams = object<ChatCreateParams>(params, "drop");

/** Reads the body of a chat request; unlike the Responses API, unknown keys are ignored and not refused. */
export function parseChatParams(value: unknown, prefix: Location = []): ChatCreateParams {
  return readWith(readChatParams, value, prefix);
}

const answerContent: Reader<unknown> = (value, trail) =>
  typeof value === "string" ? value : list(record)(value, trail);

/** Some engines give arguments as an object or not at all; what reaches us is always text. */
const answerArguments: Reader<unknown> = (value, trail) =>
  value === null ? "{}" : isObject(value) ? dumps(value) : str(value, trail);

const answerCall: Reader<unknown> = (value, trail) => {
  if (!isObject(value) || value["type"] === "custom") return record(value, trail);
  const call = answerFunctionCall(value, trail);
  return { ...call, id: call?.id ?? "", type: "function" };
};
const answerFunctionCall = object<{ id?: string | null }>(
  { id: optional(nullable(str)), function: object({ name: str, arguments: answerArguments }, "keep") },
  "keep",
);

const answerMessage = object<ChatAssistantMessage>(
  { content: optional(nullable(answerContent)), tool_calls: optional(nullable(list(answerCall))) },
  "keep",
);
const choice = object<ChatChoice>({ message: answerMessage, finish_reason: optional(nullable(str)) }, "keep");
const choices: Reader<ChatChoice[]> = (value, trail) => {
  const read = list(choice)(value, trail);
  return read?.length === 0 ? refuse(trail, "too_short", "List should have at least 1 item", value) : read;
};

const readCompletion = object<ChatCompletion>({ choices, usage: optional(nullable(record)) }, "keep");

/** Reads a chat endpoint's answer: a first choice with a message must be there, everything else is kept as it came. */
export function parseChatCompletion(value: unknown, prefix: Location = []): ChatCompletion {
  return readWith(readCompletion, value, prefix);
}
