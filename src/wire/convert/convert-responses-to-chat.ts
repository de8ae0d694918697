import type { JsonObject } from "../../base/python/json/door.ts";
import type {
  ChatAssistantMessage,
  ChatCreateParams,
  ChatFunctionTool,
  ChatMessage,
  ChatTextPart,
  ChatTool,
} from "../schemas/chat-types.ts";
import type { FunctionTool, Tool, ToolChoice } from "../schemas/item-types.ts";
import type { ResponseCreateParams, TextOptions } from "../schemas/responses.ts";
import { ChatTurns } from "./chat-turns.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";

/** Options for the conversion to a chat request. */
export interface ResponsesToChatOptions {
  /** Whether assistant messages keep the token lists of their items. Default false. */
  returnTokenIds?: boolean;
  onLoss?: OnLoss;
}

/** Fields with the same name in both APIs. An explicit null is forwarded. */
const SAME_NAME = [
  "temperature",
  "top_p",
  "top_logprobs",
  "metadata",
  "user",
  "store",
  "service_tier",
  "stream",
] as const satisfies (keyof ResponseCreateParams & keyof ChatCreateParams)[];

/** Fields without an equivalent in chat requests, and whether a value has no effect. */
const LOST: [field: keyof ResponseCreateParams, harmless: (value: unknown) => boolean][] = [
  ["truncation", (value) => value === "disabled"],
  ["include", (value) => Array.isArray(value) && value.length === 0],
  ["background", (value) => value === false],
  ["max_tool_calls", () => false],
];

/** Parts of the conversation that only the backend of the Responses API has. */
export const STORED_CONTEXT = [
  "previous_response_id",
  "prompt",
] as const satisfies (keyof ResponseCreateParams)[];

/**
 * Converts a Responses request to a chat request. Consecutive items of the assistant become one message, reasoning
 * becomes think blocks, and `instructions` becomes the first system message.
 */
export function convertResponsesToChat(
  params: ResponseCreateParams,
  options: ResponsesToChatOptions = {},
): ChatCreateParams {
  const { onLoss } = options;
  const turns = new ChatTurns(options);
  if (typeof params.input === "string") turns.addUserText(params.input);
  else for (const [index, item] of params.input.entries()) turns.add(item, index);
  const messages = withInstructions(turns.finish(), params.instructions, onLoss);

  for (const message of messages) requireText(message);

  const chat: ChatCreateParams = { messages };
  if (params.model != null) chat.model = params.model;
  const target = chat as unknown as JsonObject;
  for (const name of SAME_NAME) if (params[name] !== undefined) target[name] = params[name];
  if (params.max_output_tokens != null) chat.max_tokens = params.max_output_tokens;
  if (params.reasoning?.effort != null) chat.reasoning_effort = params.reasoning.effort;
  if (params.reasoning?.summary != null || params.reasoning?.generate_summary != null) {
    onLoss?.({ field: "reasoning.summary", reason: "chat requests carry only the reasoning effort" });
  }
  const { format, verbosity } = params.text ?? {};
  if (format != null && format.type !== "text") chat.response_format = toChatFormat(format);
  if (verbosity != null)
    onLoss?.({ field: "text.verbosity", reason: "few chat backends have such a setting" });
  addTools(chat, params, onLoss);
  for (const [field, harmless] of LOST) {
    const value = params[field];
    if (value != null && !harmless(value)) {
      onLoss?.({ field, reason: "chat requests have no such setting" });
    }
  }
  for (const field of STORED_CONTEXT) {
    if (params[field] != null)
      onLoss?.({ field, reason: "chat backends store no conversations or prompts", essential: true });
  }
  return chat;
}

/** Chat backends accept only text in system and developer messages. */
function requireText({ role, content }: ChatMessage): void {
  if ((role !== "system" && role !== "developer") || !Array.isArray(content)) return;
  const other = content.find((part) => part.type !== "text");
  if (other !== undefined)
    unsupported(`a ${role} message cannot hold '${other.type}' parts in chat requests`);
}

/** Joins the instructions with the leading system and developer messages, because many backends accept only one. */
function withInstructions(messages: ChatMessage[], instructions: string | null | undefined, onLoss?: OnLoss) {
  if (!instructions) return messages;
  const parts = [instructions];
  let count = 0;
  for (const message of messages) {
    if (message.role !== "system" && message.role !== "developer") break;
    parts.push(textOf(message.content, count, onLoss));
    count++;
  }
  return [{ role: "system" as const, content: parts.join("\n\n") }, ...messages.slice(count)];
}

function textOf(content: ChatAssistantMessage["content"], index: number, onLoss?: OnLoss): string {
  if (!Array.isArray(content)) return content ?? "";
  const texts = content.filter((part): part is ChatTextPart => part.type === "text");
  if (texts.length < content.length) {
    onLoss?.({ field: `input.${index}.content`, reason: "only text can be folded into the system message" });
  }
  return texts.map((part) => part.text).join("");
}

/** Chat requests nest the schema one level deeper. */
function toChatFormat({ type, ...schema }: NonNullable<TextOptions["format"]>): JsonObject {
  return type === "json_schema" ? { type, json_schema: schema } : { type };
}

function addTools(chat: ChatCreateParams, params: ResponseCreateParams, onLoss?: OnLoss) {
  const tools = params.tools ?? [];
  if (tools.length === 0) {
    if (params.tool_choice === "required") badValue("tool_choice 'required' needs at least one tool");
    return;
  }
  chat.tools = tools.map((tool, index) => toChatTool(tool, index, onLoss));
  if (params.parallel_tool_calls !== undefined) chat.parallel_tool_calls = params.parallel_tool_calls;
  if (params.tool_choice !== undefined) chat.tool_choice = toChatChoice(params.tool_choice);
}

function toChatTool(tool: Tool, index: number, onLoss?: OnLoss): ChatTool {
  // Every tool with a name becomes a plain function.
  const { name, description, parameters, strict } = tool as Partial<FunctionTool>;
  if (typeof name !== "string") {
    return unsupported(
      `tools.${index}: a '${tool.type}' tool has no form in chat requests; only functions have`,
    );
  }
  if (tool.type !== "function")
    onLoss?.({ field: `tools.${index}.type`, reason: "chat backends are offered a plain function" });
  if (strict === true)
    onLoss?.({ field: `tools.${index}.strict`, reason: "chat backends are not asked for it" });
  const definition: ChatFunctionTool["function"] = { name };
  if (description != null) definition.description = description;
  if (parameters != null) definition.parameters = parameters;
  return { type: "function", function: definition };
}

function toChatChoice(choice: ToolChoice) {
  if (typeof choice === "string") return choice;
  const { type, name } = choice;
  if (type === "function" && typeof name === "string") {
    return { type: "function" as const, function: { name } };
  }
  return unsupported(`tool_choice of type '${type}' has no form in chat requests`);
}
