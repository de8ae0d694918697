import { isObject, type JsonObject } from "../../src/base/python/json/json-object.ts";
import { isTruthy } from "../../src/base/python/truth.ts";
import { newId } from "../../src/wire/ids.ts";
import type { AnthropicRequest } from "../../src/wire/schemas/anthropic-types.ts";
import type {
  ChatAssistantMessage,
  ChatCompletion,
  ChatCreateParams,
  ChatMessage,
} from "../../src/wire/schemas/chat-types.ts";
import type { InputPart, ResponseInputItem } from "../../src/wire/schemas/item-types.ts";
import { nullable, object, oneOf, optional, readWith, str } from "../../src/wire/schemas/readers.ts";
import type { ResponseCreateParams } from "../../src/wire/schemas/responses.ts";
import { CHAT_PARAM_KEYS, parseChatParams } from "../../src/wire/schemas/validate-chat.ts";
import { messageContent } from "../../src/wire/schemas/validate-parts.ts";
import type { SseEvent } from "../../src/wire/stream/sse.ts";

// The golden cases record the Python original. docs/compatibility.md lists where the product accepts, converts or
// sends more. The functions here reject or leave out the same as the original, so that everything else can be compared.

const reject = (problem: string): never => {
  throw new Error(`the original rejects ${problem}`);
};

/** Options of conversions to items. The original keeps an empty call id. */
export const itemOptions = (
  options: { return_token_id_information?: boolean; uses_reasoning_parser?: boolean } = {},
) => ({
  returnTokenIds: options.return_token_id_information ?? false,
  usesReasoningParser: options.uses_reasoning_parser ?? true,
  newId: (prefix: Parameters<typeof newId>[0]) => (prefix === "call" ? "" : newId(prefix)),
});

export function checkRequestForChat(params: ResponseCreateParams): ResponseCreateParams {
  const { tools = [], tool_choice } = params;
  if (tools.length > 0 && isObject(tool_choice)) reject("a named tool choice");
  for (const tool of tools) {
    const { name, description, parameters } = tool as JsonObject;
    if (typeof name === "string" && (description === null || parameters === null))
      reject("a tool whose description or parameters are null");
  }
  for (const item of typeof params.input === "string" ? [] : params.input) {
    const { role, content } = item as JsonObject;
    if (role === "tool" && hasPart(content, "text")) reject("chat parts in a tool message");
  }
  // The original drops the format of the answer, see docs/compatibility.md.
  const { text: _, ...converted } = params;
  return converted;
}

const hasPart = (content: unknown, type: string): boolean =>
  Array.isArray(content) && content.some((part) => isObject(part) && part["type"] === type);

/** A chat request without unknown keys and without the reasoning of earlier turns, but with `tool_calls: null`. */
export function readChatParams(body: JsonObject): ChatCreateParams {
  const known = withKnownKeys(body);
  const given = body["messages"];
  if (!Array.isArray(given)) return parseChatParams(known);
  const messages = given.map((message) => {
    if (!isObject(message) || message["role"] !== "assistant") return message;
    const { reasoning_content: _content, reasoning: _reasoning, ...rest } = message;
    return rest;
  });
  const params = parseChatParams({ ...known, messages });
  return {
    ...params,
    messages: params.messages.map((message, index) =>
      message.role === "assistant" && messages[index].tool_calls === null
        ? ({ ...message, tool_calls: null } as unknown as ChatMessage)
        : message,
    ),
  };
}

export const withKnownKeys = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => CHAT_PARAM_KEYS.has(key)));

/** What the original converts of a chat request. */
export function checkChatRequest({ response_format: _, ...chat }: ChatCreateParams): ChatCreateParams {
  for (const tool of chat.tools ?? []) {
    if (tool.type !== "function") reject("custom tools");
    else if (tool.function.strict === undefined) reject("a function without `strict`");
  }
  if (isObject(chat.tool_choice)) reject("a named tool choice");
  return { ...chat, messages: checkMessages(chat.messages) };
}

const easyMessage = object<{ content: string | InputPart[] | null }>({
  content: nullable(messageContent),
  type: optional(oneOf("message")),
});
const callTexts = object({ id: str, name: str, arguments: str });

export function checkMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message, index) => {
    switch (message.role) {
      case "user":
      case "system":
      case "developer": {
        const { content } = readWith(easyMessage, message, ["messages", index]);
        return { ...message, content: content ?? "" } as ChatMessage;
      }
      case "assistant":
        return checkAssistant(message);
      default:
        return message;
    }
  });
}

/** The original rejects a list of parts, and loses refusals and the old `function_call`. */
function checkAssistant({
  refusal: _refusal,
  function_call: _call,
  ...message
}: ChatAssistantMessage): ChatAssistantMessage {
  if (isTruthy(message.content) && typeof message.content !== "string") reject("a list of parts");
  for (const call of message.tool_calls ?? []) {
    if (call.type !== "custom") readWith(callTexts, { id: call.id, ...call.function }, ["tool_calls"]);
  }
  return message;
}

export function checkCompletion(completion: ChatCompletion): ChatCompletion {
  const choices = completion.choices.map((choice) => ({
    ...choice,
    message: checkAssistant(choice.message),
  }));
  return { ...completion, choices };
}

/** Rejects redacted thinking in the blocks of a message. */
export function checkBlocks<T>(message: T): T {
  if (isObject(message) && hasPart(message["content"], "redacted_thinking")) reject("redacted thinking");
  return message;
}

/** The original has no redacted thinking: reasoning without a summary is left out. */
export const withoutHiddenThoughts = <T extends ResponseInputItem>(items: readonly T[]): T[] =>
  items.filter((item) => item.type !== "reasoning" || item.summary.length > 0);

const BLANK = "\uE000";

/** Marks blank texts, which the product leaves out of a Messages request, and empties the outputs of tools. */
export function markForMessages(params: ResponseCreateParams): ResponseCreateParams {
  const mark = (text: string) => (text.trim() === "" ? BLANK + text : text);
  const markContent = (content: unknown) => {
    if (typeof content === "string") return mark(content);
    if (!Array.isArray(content)) return content;
    return content.map((part) =>
      typeof part?.text === "string" ? { ...part, text: mark(part.text) } : part,
    );
  };
  const input = itemsOf(params).map((item) => {
    if (item.type === "function_call_output") return { ...item, output: "" };
    const { type = "message", role, content = "" } = item as JsonObject;
    const isTurn = type === "message" && (role === "user" || role === "assistant");
    return isTurn ? ({ ...item, content: markContent(content) } as ResponseInputItem) : item;
  });
  return { ...params, input: withoutHiddenThoughts(input) };
}

/** Restores what `markForMessages` replaced: blank texts, and the outputs of tools as they were given. */
export function restoreInMessages(body: AnthropicRequest, params: ResponseCreateParams): AnthropicRequest {
  const outputs = itemsOf(params).flatMap((item) =>
    item.type === "function_call_output" ? [item.output] : [],
  );
  const messages = body.messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => {
      if (block.type === "text") return { ...block, text: block.text.replace(BLANK, "") };
      return block.type === "tool_result" ? { ...block, content: outputs.shift() as string } : block;
    }),
  }));
  return { ...body, messages };
}

const itemsOf = ({ input }: ResponseCreateParams): ResponseInputItem[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : input;

const RESPONSE_EVENTS = ["response.created", "response.output_item.done", "response.completed"];

/** The original sends no shells, deltas or sequence numbers, and the usage as it is. */
export function* fewResponseEvents(events: Iterable<SseEvent>, { usage }: JsonObject): Generator<SseEvent> {
  for (const { event, data } of events) {
    if (event === null || !RESPONSE_EVENTS.includes(event) || !isObject(data)) continue;
    const { sequence_number: _, ...rest } = data;
    if (event === "response.completed" && isObject(rest["response"]) && usage !== undefined)
      rest["response"] = { ...rest["response"], usage };
    yield { event, data: rest };
  }
}

/** The original streams neither refusals nor the old `function_call`. */
export function* fewChatChunks(events: Iterable<SseEvent>): Generator<SseEvent> {
  for (const event of events) {
    const [choice] = (isObject(event.data) ? event.data["choices"] : []) as { delta: object }[];
    if (choice && ("refusal" in choice.delta || "function_call" in choice.delta)) continue;
    yield event;
  }
}

/** The original streams thinking without its signature. */
export function* withoutSignatures(events: Iterable<SseEvent>): Generator<SseEvent> {
  for (const { event, data } of events) {
    const { delta, content_block } = data as { delta?: JsonObject; content_block?: JsonObject };
    if (delta?.["type"] === "signature_delta") continue;
    if (content_block) delete content_block["signature"];
    yield { event, data };
  }
}
