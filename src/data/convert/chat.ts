import { errorMessage } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { convertChatRequest } from "../../wire/convert/door.ts";
import { parseChatParams, ValidationError } from "../../wire/schemas/door.ts";
import { Misfit } from "./fields.ts";

/** The prompt and the last answer of a conversation. */
export interface ChatParts {
  readonly params: JsonObject;
  /** The text of the last message, if the assistant wrote it. */
  readonly answer: string | undefined;
  /** The last message, if it calls tools. */
  readonly call: JsonObject | undefined;
}

export function isChat(value: unknown): value is JsonObject[] {
  return isListOf(value, "role");
}

export function isShareGpt(value: unknown): boolean {
  return isListOf(value, "from");
}

function isListOf(value: unknown, member: string): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && isObject(value[0]) && member in value[0];
}

/** Everything before the last answer becomes the input of the model. */
export function chatParts(messages: unknown, tools: unknown): ChatParts {
  if (!isChat(messages)) throw new Misfit("the messages are not a list of objects with a role");
  const last = messages.at(-1);
  const isAnswered = last?.["role"] === "assistant";
  const asked = isAnswered ? messages.slice(0, -1) : messages;
  if (!asked.some(({ role }) => role === "user" || role === "tool"))
    throw new Misfit("no user wrote a message before the answer");
  const hasCalls = isAnswered && Array.isArray(last["tool_calls"]) && last["tool_calls"].length > 0;
  return {
    params: requestOf(asked, tools),
    answer: isAnswered && !hasCalls ? contentText(last["content"]) : undefined,
    call: hasCalls ? last : undefined,
  };
}

function requestOf(messages: readonly JsonObject[], tools: unknown): JsonObject {
  const body = { model: "", messages, ...(Array.isArray(tools) && tools.length > 0 && { tools }) };
  try {
    const { input, tools: converted } = convertChatRequest(parseChatParams(body, []));
    return {
      input: (input as unknown as JsonObject[]).map(withFixedId),
      ...(Array.isArray(tools) && tools.length > 0 && { tools: converted as unknown }),
    };
  } catch (error) {
    throw new Misfit(reasonOf(error));
  }
}

/** The conversion invents ids; rows of the same source must be the same. */
function withFixedId(item: JsonObject, index: number): JsonObject {
  return typeof item["id"] === "string" ? { ...item, id: `item_${index}` } : item;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ValidationError)) return errorMessage(error);
  const [first] = error.detail;
  return first === undefined ? errorMessage(error) : `${first.loc.join(".")}: ${first.msg}`;
}

/** The text of a message; parts other than text do not fit. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new Misfit("the last message has no text");
  return content
    .map((part) => {
      if (isObject(part) && typeof part["text"] === "string") return part["text"];
      throw new Misfit("the last message has parts that are not text");
    })
    .join("");
}

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  user: "user",
  gpt: "assistant",
  chatgpt: "assistant",
  assistant: "assistant",
  model: "assistant",
  bard: "assistant",
  bing: "assistant",
  system: "system",
};

/** `{from, value}` as chat messages. */
export function shareGptMessages(conversation: unknown): JsonObject[] {
  if (!isShareGpt(conversation)) throw new Misfit("the conversation is not a list of objects with 'from'");
  return (conversation as unknown[]).map((turn) => {
    const from = isObject(turn) ? String(turn["from"]) : "";
    const role = Object.hasOwn(ROLES, from.toLowerCase()) ? ROLES[from.toLowerCase()] : undefined;
    if (role === undefined)
      throw new Misfit(`a message is from '${from}' (${Object.keys(ROLES).join(", ")})`);
    const value = (turn as JsonObject)["value"];
    if (typeof value !== "string") throw new Misfit(`a message from '${from}' has no text`);
    return { role, content: value };
  });
}
