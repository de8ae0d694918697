import { isTruthy } from "../../python/truth.ts";
import { type NewId, newId } from "../ids.ts";
import type { ChatAssistantMessage, ChatMessage, ChatToolCall, ChatUserPart } from "../schemas/chat-types.ts";
import type {
  EasyMessage,
  FunctionCall,
  FunctionCallOutput,
  InputPart,
  OutputMessage,
  OutputPart,
  Reasoning,
} from "../schemas/item-types.ts";
import {
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  readWith,
  str,
  wordOf,
} from "../schemas/readers.ts";
import { messageContent } from "../schemas/validate-parts.ts";
import { readTokens } from "../schemas/validate-tokens.ts";
import { type OnLoss, unsupported } from "./conversion-loss.ts";
import { parseThinkTags } from "./think-tags.ts";

/** How chat messages become items. */
export interface ChatToItemsOptions {
  /** Take think blocks out of the content and make reasoning of them; on unless turned off. */
  usesReasoningParser?: boolean;
  /** Put the token lists of an assistant message on its last item; off unless asked for. */
  returnTokenIds?: boolean;
  /** Refuse what the Python original refuses although it could be converted: chat-shaped part lists, named tool choices. */
  refuseLikeOriginal?: boolean;
  newId?: NewId;
  onLoss?: OnLoss;
}

/** What an assistant's message is made of. */
export type AssistantItem = Reasoning | OutputMessage | FunctionCall;

const callTexts = object({ id: str, name: str, arguments: str }, "drop");

/** An assistant's chat message as items, always in the order reasoning, message, calls. */
export function assistantMessageToItems(
  message: ChatAssistantMessage,
  options: ChatToItemsOptions = {},
): AssistantItem[] {
  const {
    usesReasoningParser = true,
    returnTokenIds = false,
    newId: makeId = newId,
    refuseLikeOriginal,
  } = options;
  const text = assistantText(message, options);
  const { reasoning, content } = usesReasoningParser
    ? parseThinkTags(text)
    : { reasoning: [], content: text };
  const refusal = refuseLikeOriginal ? "" : (message.refusal ?? "");
  const calls = refuseLikeOriginal ? (message.tool_calls ?? []) : callsOf(message);
  const items: AssistantItem[] = [];
  if (reasoning.length > 0) {
    items.push({
      id: makeId("rs"),
      summary: reasoning.map((block) => ({ text: block, type: "summary_text" as const })),
      type: "reasoning",
    });
  }
  if (content !== "" || refusal !== "" || (items.length === 0 && calls.length === 0)) {
    const parts: OutputPart[] =
      content === "" && refusal !== ""
        ? []
        : [{ annotations: [], text: content, type: "output_text", logprobs: null }];
    items.push({
      id: makeId("msg"),
      content: refusal === "" ? parts : [...parts, { type: "refusal", refusal }],
      role: "assistant",
      status: "completed",
      type: "message",
    });
  }
  for (const call of calls) {
    if (call.type === "custom")
      unsupported(`call '${call.id}' is a custom tool call, which has no function form`);
    const { name, arguments: text } = call.function;
    if (refuseLikeOriginal) readWith(callTexts, { id: call.id, name, arguments: text }, ["tool_calls"]);
    const id = refuseLikeOriginal ? call.id : call.id || makeId("call");
    items.push({
      arguments: text,
      call_id: id,
      name,
      type: "function_call",
      id,
      status: "completed",
    });
  }
  const tokens = returnTokenIds
    ? readWith((value, trail) => readTokens(value as Record<string, unknown>, trail), message, ["message"])
    : undefined;
  const last = items.at(-1);
  if (tokens !== undefined && last !== undefined) items[items.length - 1] = { ...tokens, ...last };
  return items;
}

/** The calls of a message; clients and engines that know no `tool_calls` yet have one at most, without an id. */
function callsOf({ tool_calls, function_call }: ChatAssistantMessage): ChatToolCall[] {
  if (tool_calls?.length || !function_call) return tool_calls ?? [];
  return [{ id: "", type: "function", function: function_call }];
}

function assistantText(
  message: ChatAssistantMessage,
  { onLoss, refuseLikeOriginal }: ChatToItemsOptions,
): string {
  const { content } = message;
  if (message.refusal && refuseLikeOriginal) {
    onLoss?.({ field: "message.refusal", reason: "items are made of the content only" });
  }
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
  if (refuseLikeOriginal && isTruthy(content) && typeof content !== "string") {
    unsupported("the content of an assistant's message must be text, not a list of parts");
  }
  if (!Array.isArray(content)) return content || "";
  let text = "";
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else onLoss?.({ field: "message.content", reason: `'${part.type}' parts are not text` });
  }
  return text;
}

/** What a chat conversation is made of. */
export type ChatItem = AssistantItem | EasyMessage | FunctionCallOutput;

/** A chat conversation as response items. */
export function chatMessagesToItems(
  messages: readonly ChatMessage[],
  options: ChatToItemsOptions = {},
): ChatItem[] {
  const items: ChatItem[] = [];
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case "user":
      case "system":
      case "developer":
        items.push({
          content: options.refuseLikeOriginal
            ? strictContent(message, index)
            : userContent(message.content, index),
          role: message.role,
          type: "message",
        });
        break;
      case "assistant":
        items.push(...assistantMessageToItems(message, options));
        break;
      case "tool":
        items.push({
          call_id: readWith(str, message.tool_call_id, ["messages", index, "tool_call_id"]),
          output:
            typeof message.content === "string"
              ? message.content
              : readWith(toolParts, message.content, ["messages", index, "content"]),
          type: "function_call_output",
          status: "completed",
        });
        break;
      default:
        unsupported(
          `messages.${index}: no item has the role '${wordOf((message as { role: unknown }).role)}'`,
        );
    }
  }
  return items;
}

const toolParts: Reader<InputPart[]> = (value, trail) =>
  list(toolText)(value, trail)?.map(({ text }) => ({ text, type: "input_text" }));
const toolText = object<{ text: string }>({ text: str }, "drop");

const strictMessage = object<{ content: string | InputPart[] }>(
  { content: nullable(messageContent), type: optional(oneOf("message")) },
  "drop",
);

/** Only what a message of the Responses API may hold. */
function strictContent(message: object, index: number): string | InputPart[] {
  return readWith(strictMessage, message, ["messages", index]).content ?? "";
}

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
