import type { JsonObject } from "nemo-gym";
import {
  type ChatCreateParams,
  type ChatMessage,
  type OnLoss,
  parseThinkTags,
  withoutTokens,
} from "nemo-gym/openai";

/** How an endpoint differs from OpenAI's Chat Completions. */
export interface Quirks {
  /** Its address. */
  baseUrl: string;
  /** Request keys that it rejects or does not know; they are removed. */
  drops?: readonly string[];
  /** Whether `developer` messages must be sent as `system`. */
  noDeveloperRole?: boolean;
  /** Keys that every request must have. */
  adds?: Readonly<Record<string, unknown>>;
  /** Whether responses contain their cost. */
  statesCost?: boolean;
}

export interface OutboundChatOptions {
  model: string;
  extraBody?: JsonObject | null | undefined;
  /** Removes think blocks from the history: the endpoint keeps reasoning separate and does not want it back. */
  cutsReasoning: boolean;
  /** The name of the length limit in requests; OpenAI's reasoning models reject `max_tokens`. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Sends `developer` messages as `system`; by default as the quirks say. */
  renamesDeveloper?: boolean;
  quirks?: Quirks | undefined;
  onLoss?: OnLoss;
}

/** The body for a chat endpoint. Request keys override `extra_body`; the configured model overrides both. */
export function outboundChat(params: ChatCreateParams, options: OutboundChatOptions): JsonObject {
  const { quirks = undefined, onLoss } = options;
  const body: JsonObject = {
    ...quirks?.adds,
    ...options.extraBody,
    ...params,
    messages: params.messages.map((message) => outboundMessage(message, options)),
    model: options.model,
  };
  if (options.maxTokensField === "max_completion_tokens" && body["max_tokens"] !== undefined) {
    body["max_completion_tokens"] = body["max_tokens"];
    delete body["max_tokens"];
  }
  for (const key of quirks?.drops ?? []) {
    if (body[key] == null) {
      delete body[key];
      continue;
    }
    onLoss?.({ field: key, reason: `${quirks?.baseUrl} does not take it` });
    delete body[key];
  }
  return body;
}

function outboundMessage(
  message: ChatMessage,
  { cutsReasoning, quirks, renamesDeveloper = quirks?.noDeveloperRole }: OutboundChatOptions,
): ChatMessage {
  if (message.role === "developer" && renamesDeveloper) return { ...message, role: "system" };
  if (message.role !== "assistant") return message;
  const plain = withoutTokens(message);
  if (!cutsReasoning || typeof plain.content !== "string") return plain;
  return { ...plain, content: parseThinkTags(plain.content).content };
}
