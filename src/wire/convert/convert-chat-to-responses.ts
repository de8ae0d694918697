import type { JsonObject } from "../../base/python/json/door.ts";
import { type NewId, newId } from "../ids.ts";
import type {
  ChatAssistantMessage,
  ChatCompletion,
  ChatCreateParams,
  ChatMessage,
  ChatTool,
  ChatToolCall,
  ChatToolChoice,
  ChatUserPart,
} from "../schemas/chat-types.ts";
import type {
  EasyMessage,
  FunctionCall,
  FunctionCallOutput,
  InputPart,
  OutputMessage,
  OutputPart,
  Reasoning,
  ToolChoice,
} from "../schemas/item-types.ts";
import { list, object, type Reader, readWith, str, wordOf } from "../schemas/readers.ts";
import { parseCreateParams, type Response, type ResponseCreateParams } from "../schemas/responses.ts";
import { CHAT_PARAM_KEYS } from "../schemas/validate-chat.ts";
import { readTokens } from "../schemas/validate-items.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";
import { responseEnvelope } from "./response-envelope.ts";
import { parseThinkTags } from "./think-tags.ts";
import { usageFromChat } from "./usage.ts";

/** Options for the conversion of chat messages to items. */
export interface ChatToItemsOptions {
  /** Whether think blocks are removed from the content and become reasoning. Default true. */
  usesReasoningParser?: boolean;
  /** Whether the token lists of an assistant message are added to its last item. Default false. */
  returnTokenIds?: boolean;
  newId?: NewId;
  onLoss?: OnLoss;
}

/** An item of an assistant message. */
export type AssistantItem = Reasoning | OutputMessage | FunctionCall;

/** Converts an assistant message to items, always in the order reasoning, message, calls. */
export function assistantMessageToItems(
  message: ChatAssistantMessage,
  options: ChatToItemsOptions = {},
): AssistantItem[] {
  const { usesReasoningParser = true, returnTokenIds = false, newId: makeId = newId } = options;
  const text = assistantText(message, options.onLoss);
  const { reasoning, content } = usesReasoningParser
    ? parseThinkTags(text)
    : { reasoning: [], content: text };
  const refusal = message.refusal ?? "";
  const calls = callsOf(message);
  const items: AssistantItem[] = [];
  if (reasoning.length > 0) {
    items.push({
      id: makeId("rs"),
      summary: reasoning.map((block) => ({ text: block, type: "summary_text" })),
      type: "reasoning",
    });
  }
  if (content !== "" || refusal !== "" || (items.length === 0 && calls.length === 0)) {
    const parts: OutputPart[] = [];
    if (content !== "" || refusal === "")
      parts.push({ annotations: [], text: content, type: "output_text", logprobs: null });
    if (refusal !== "") parts.push({ type: "refusal", refusal });
    items.push({
      id: makeId("msg"),
      content: parts,
      role: "assistant",
      status: "completed",
      type: "message",
    });
  }
  for (const call of calls) {
    if (call.type === "custom")
      unsupported(`call '${call.id}' is a custom tool call, which has no function form`);
    const { name, arguments: text } = call.function;
    const id = call.id || makeId("call");
    items.push({ arguments: text, call_id: id, name, type: "function_call", id, status: "completed" });
  }
  const tokens = returnTokenIds
    ? readWith((value, trail) => readTokens(value as JsonObject, trail), message, ["message"])
    : undefined;
  const last = items.at(-1);
  if (tokens !== undefined && last !== undefined) items[items.length - 1] = { ...tokens, ...last };
  return items;
}

/** The calls of a message. Older clients and engines send one `function_call` without an id. */
function callsOf({ tool_calls, function_call }: ChatAssistantMessage): ChatToolCall[] {
  if (tool_calls?.length || !function_call) return tool_calls ?? [];
  return [{ id: "", type: "function", function: function_call }];
}

function assistantText(message: ChatAssistantMessage, onLoss: OnLoss | undefined): string {
  const { content } = message;
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (reasoning) {
    onLoss?.({
      field: "message.reasoning_content",
      reason:
        typeof reasoning === "string"
          ? "the engine keeps it apart from the text; with uses_reasoning_parser: true it becomes a reasoning item"
          : "it holds no text",
    });
  }
  if (!Array.isArray(content)) return content || "";
  let text = "";
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else onLoss?.({ field: "message.content", reason: `'${part.type}' parts are not text` });
  }
  return text;
}

/** An item of a chat conversation. */
export type ChatItem = AssistantItem | EasyMessage | FunctionCallOutput;

/** Converts a chat conversation to items. */
export function chatMessagesToItems(
  messages: readonly ChatMessage[],
  options: ChatToItemsOptions = {},
): ChatItem[] {
  return messages.flatMap((message, index): ChatItem[] => {
    switch (message.role) {
      case "user":
      case "system":
      case "developer":
        return [{ content: userContent(message.content, index), role: message.role, type: "message" }];
      case "assistant":
        return assistantMessageToItems(message, options);
      case "tool":
        return [
          {
            call_id: readWith(str, message.tool_call_id, ["messages", index, "tool_call_id"]),
            output:
              typeof message.content === "string"
                ? message.content
                : readWith(toolParts, message.content, ["messages", index, "content"]),
            type: "function_call_output",
            status: "completed",
          },
        ];
      default:
        return unsupported(
          `messages.${index}: no item has the role '${wordOf((message as { role: unknown }).role)}'`,
        );
    }
  });
}

const toolTexts = list(object<{ text: string }>({ text: str }));
const toolParts: Reader<InputPart[]> = (value, trail) =>
  toolTexts(value, trail)?.map(({ text }) => ({ text, type: "input_text" }));

type UserContent = string | null | undefined | readonly (ChatUserPart | InputPart)[];

function userContent(content: UserContent, index: number): string | InputPart[] {
  if (content == null || typeof content === "string") return content ?? "";
  return content.map((part): InputPart => {
    if (part.type.startsWith("input_") && part.type !== "input_audio") return part as InputPart;
    switch (part.type) {
      case "text":
        return { text: part.text, type: "input_text" };
      case "image_url":
        return {
          detail: part.image_url.detail ?? "auto",
          type: "input_image",
          image_url: part.image_url.url,
        };
      case "video_url":
        return { type: "input_video", video_url: part.video_url };
      case "file":
        return { type: "input_file", ...part.file };
      default:
        return unsupported(`messages.${index}: '${part.type}' parts have no form in Responses requests`);
    }
  });
}

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

/** Hints to a backend. The answer is also valid without them. */
const HINTS: readonly string[] = [
  "prediction",
  "seed",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
  "verbosity",
];

/** Whether a setting without an equivalent has no effect. */
const HARMLESS: Record<string, (value: unknown) => boolean> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => Object.keys(value as object).length === 0,
  logprobs: (value) => value === false,
  modalities: (value) => !(value as string[]).includes("audio"),
  n: (value) => value === 1,
  stop: (value) => (value as string | string[]).length === 0,
};

/** Settings without an equivalent that change the answer. */
const LOST = [...Object.keys(HARMLESS), "audio", "web_search_options"];

/** Converts a chat request to a Responses request. */
export function convertChatRequest(
  chat: ChatCreateParams,
  options: ChatToItemsOptions = {},
): ResponseCreateParams {
  const params: JsonObject = { input: chatMessagesToItems(chat.messages, options) };
  for (const name of SAME_NAME) if (chat[name] != null) params[name] = chat[name];
  const limit = chat.max_completion_tokens ?? chat.max_tokens;
  if (limit != null) params["max_output_tokens"] = limit;
  if (chat.reasoning_effort != null) params["reasoning"] = { effort: chat.reasoning_effort };
  params["parallel_tool_calls"] = chat.parallel_tool_calls ?? true;
  params["tool_choice"] = toResponsesChoice(chat.tool_choice ?? "auto");
  params["tools"] = (chat.tools ?? []).map(toResponsesTool);
  if (chat.response_format != null) params["text"] = { format: toResponsesFormat(chat.response_format) };
  if (options.onLoss) reportLosses(chat, options.onLoss);
  return parseCreateParams(params);
}

function reportLosses(chat: ChatCreateParams, onLoss: OnLoss): void {
  for (const [field, value] of Object.entries(chat)) {
    if (value == null || HARMLESS[field]?.(value)) continue;
    if (HINTS.includes(field)) onLoss({ field, reason: "Responses requests have no such setting" });
    else if (LOST.includes(field))
      onLoss({ field, reason: "Responses requests have no such setting", essential: true });
    else if (!CHAT_PARAM_KEYS.has(field)) {
      const reason = "only chat endpoints have this setting, and the backend is not one";
      onLoss({ field, reason, essential: true });
    }
  }
}

/** Chat requests nest the schema one level deeper. */
function toResponsesFormat(format: JsonObject): JsonObject {
  return format["type"] === "json_schema"
    ? { type: "json_schema", ...(format["json_schema"] as JsonObject) }
    : { ...format };
}

function toResponsesTool(tool: ChatTool): JsonObject {
  return tool.type === "function"
    ? { ...tool.function, type: "function" }
    : { ...tool.custom, type: "custom" };
}

function toResponsesChoice(choice: ChatToolChoice): ToolChoice {
  if (typeof choice === "string") return choice;
  return choice.type === "function"
    ? { type: "function", name: choice.function.name }
    : { type: "custom", name: choice.custom.name };
}

const INCOMPLETE_REASONS = new Map([
  ["length", "max_output_tokens"],
  ["content_filter", "content_filter"],
]);

/** Converts the first choice of a chat completion to a Response, which repeats the settings of the request. */
export function convertChatCompletion(
  completion: ChatCompletion,
  request: ResponseCreateParams,
  options: ChatToItemsOptions = {},
): Response {
  const choice = completion.choices[0] ?? badValue("the completion has no choices");
  if (completion.choices.length > 1) {
    options.onLoss?.({ field: "choices", reason: "only the first choice becomes a response" });
  }
  const usage = usageFromChat(completion.usage);
  if (completion.usage != null && usage === null) {
    options.onLoss?.({ field: "usage", reason: "it does not say how many tokens went in and came out" });
  }
  const reason = INCOMPLETE_REASONS.get(choice.finish_reason ?? "");
  return {
    ...responseEnvelope(request, { createdAt: completion.created, newId: options.newId }),
    output: assistantMessageToItems(choice.message, options),
    incomplete_details: reason === undefined ? null : { reason },
    status: reason === undefined ? "completed" : "incomplete",
    usage,
  };
}
