import type { JsonObject } from "../../python/json/json-object.ts";
import type { ChatCreateParams, ChatTool, ChatToolChoice } from "../schemas/chat-types.ts";
import { parseCreateParams, type ResponseCreateParams } from "../schemas/responses.ts";
import type { ToolChoice } from "../schemas/tool-types.ts";
import { CHAT_PARAM_KEYS } from "../schemas/validate-chat.ts";
import { type OnLoss, unsupported } from "./conversion-loss.ts";
import { type ChatToItemsOptions, chatMessagesToItems } from "./convert-chat-to-items.ts";

const SAME_NAME = [
  "model",
  "metadata",
  "service_tier",
  "store",
  "temperature",
  "top_logprobs",
  "top_p",
  "user",
  "stream",
] as const satisfies (keyof ResponseCreateParams & keyof ChatCreateParams)[];

const LOST = [
  "max_tokens",
  "audio",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "modalities",
  "n",
  "prediction",
  "presence_penalty",
  "seed",
  "stop",
  "web_search_options",
] as const satisfies (keyof ChatCreateParams)[];

/** Turns a chat request into a Responses request. */
export function convertChatRequest(
  chat: ChatCreateParams,
  options: ChatToItemsOptions = {},
): ResponseCreateParams {
  const { onLoss } = options;
  const params: JsonObject = { input: chatMessagesToItems(chat.messages, options) };
  for (const name of SAME_NAME) if (chat[name] != null) params[name] = chat[name];
  if (chat.max_completion_tokens != null) params["max_output_tokens"] = chat.max_completion_tokens;
  if (chat.reasoning_effort != null) params["reasoning"] = { effort: chat.reasoning_effort };
  params["parallel_tool_calls"] = chat.parallel_tool_calls ?? true;
  params["tool_choice"] = toResponsesChoice(chat.tool_choice ?? "auto", options);
  params["tools"] = (chat.tools ?? []).map((tool) => toResponsesTool(tool, options));
  if (chat.response_format != null && !options.refuseLikeOriginal)
    params["text"] = { format: toResponsesFormat(chat.response_format) };
  reportLosses(chat, onLoss);
  return parseCreateParams(params);
}

function reportLosses(chat: ChatCreateParams, onLoss: OnLoss | undefined): void {
  if (onLoss === undefined) return;
  for (const field of LOST) {
    if (chat[field] != null) onLoss({ field, reason: "Responses requests have no such setting" });
  }
  for (const [field, value] of Object.entries(chat)) {
    if (value != null && !CHAT_PARAM_KEYS.has(field)) {
      onLoss({ field, reason: "only chat endpoints have this setting, and the backend is not one" });
    }
  }
}

/** Chat nests the schema one level deeper. */
function toResponsesFormat(format: NonNullable<ChatCreateParams["response_format"]>): JsonObject {
  return format["type"] === "json_schema"
    ? { type: "json_schema", ...(format["json_schema"] as JsonObject) }
    : { ...format };
}

function toResponsesTool(tool: ChatTool, { refuseLikeOriginal }: ChatToItemsOptions): JsonObject {
  if (tool.type === "function") {
    if (refuseLikeOriginal && tool.function.strict === undefined)
      unsupported("a tool must say whether it is strict");
    return { ...tool.function, type: "function" };
  }
  if (refuseLikeOriginal) unsupported("custom tools have no form in Responses requests");
  return { ...tool.custom, type: "custom" };
}

function toResponsesChoice(choice: ChatToolChoice, { refuseLikeOriginal }: ChatToItemsOptions): ToolChoice {
  if (typeof choice === "string") return choice;
  if (refuseLikeOriginal) unsupported("a named tool choice has no form in Responses requests");
  return choice.type === "function"
    ? { type: "function", name: choice.function.name }
    : { type: "custom", name: choice.custom.name };
}
