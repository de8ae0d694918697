import { convertResponsesToChat } from "../../../wire/convert/door.ts";
import type { ChatMessage, ChatTool, ResponseCreateParams } from "../../../wire/schemas/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";

/** A rollout as chat messages: the input, and the output of the model and its tools. */
export interface ChatConversation {
  prompt: ChatMessage[];
  completion: ChatMessage[];
  tools?: ChatTool[];
  parallelToolCalls?: boolean;
}

export interface ConversationOptions {
  /** Reasoning becomes `<think>` blocks (default), or is dropped. */
  reasoning?: "think" | "drop";
  /** Keeps the token lists on the assistant messages (default: no). */
  tokens?: boolean;
}

/** Reads the conversation of a rollout row; throws with the reason when it has none. */
export function chatConversationOf(row: Row, options: ConversationOptions = {}): ChatConversation {
  const params = objectAt(row, "responses_create_params");
  const output = objectAt(row, "response")["output"];
  if (!Array.isArray(output)) throw new Error("'response.output' is not a list");
  if (output.length === 0) throw new Error("'response.output' is empty");
  const { input, instructions, tools, parallel_tool_calls: parallel } = params;
  if (typeof input !== "string" && !Array.isArray(input))
    throw new Error("'responses_create_params.input' is neither text nor a list");
  const request = convertResponsesToChat({ input, instructions, tools } as unknown as ResponseCreateParams);
  const items =
    options.reasoning === "drop" ? output.filter((item) => (item as Row)["type"] !== "reasoning") : output;
  const answer = convertResponsesToChat({ input: items } as unknown as ResponseCreateParams, {
    returnTokenIds: options.tokens,
  });
  return {
    prompt: request.messages.map(withPlainText),
    completion: answer.messages.map(withPlainText),
    tools: request.tools ?? undefined,
    parallelToolCalls: typeof parallel === "boolean" && request.tools ? parallel : undefined,
  };
}

function objectAt(row: Row, key: string): Row {
  const value = row[key];
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`'${key}' is missing or not an object`);
  return value as Row;
}

/** Text-only content becomes one string, which every trainer supports. */
function withPlainText(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts: string[] = [];
  for (const part of content) {
    if (part.type !== "text") return message;
    texts.push(part.text);
  }
  return { ...message, content: texts.join("\n") } as ChatMessage;
}

/** The text of the last assistant message; empty without text. */
export function finalText(conversation: ChatConversation): string {
  const last = conversation.completion.findLast((message) => message.role === "assistant");
  return typeof last?.content === "string" ? last.content : "";
}
