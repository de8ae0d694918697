import type { JsonObject } from "nemo-gym";
import { type ChatCreateParams, type ChatMessage, type OnLoss, parseThinkTags } from "nemo-gym/openai";

/** How an endpoint departs from Chat Completions as OpenAI defines it. */
export interface Quirks {
  /** Where it is. */
  baseUrl: string;
  /** Request keys it refuses or does not know; they are left out. */
  drops?: readonly string[];
  /** Whether `developer` messages must be sent as `system`. */
  noDeveloperRole?: boolean;
  /** Keys it wants in every request. */
  adds?: Readonly<Record<string, unknown>>;
  /** Whether answers tell what they cost. */
  statesCost?: boolean;
}

export interface OutboundChatOptions {
  model: string;
  extraBody?: JsonObject | null | undefined;
  /** Cuts think blocks out of the history: the endpoint keeps reasoning apart and does not want it back. */
  cutsReasoning: boolean;
  /** The key the length limit goes out under; reasoning models of OpenAI refuse `max_tokens`. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Sends `developer` messages as `system`; as the quirks say unless given. */
  renamesDeveloper?: boolean;
  quirks?: Quirks | undefined;
  onLoss?: OnLoss;
}

/** The body for a chat endpoint: request keys beat `extra_body`, the configured model beats both. */
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
  // Token lists are between us and training engines.
  const {
    prompt_token_ids: _prompt,
    generation_token_ids: _generation,
    generation_log_probs: _logProbs,
    routed_experts: _experts,
    ...rest
  } = message;
  if (!cutsReasoning || typeof rest.content !== "string") return rest;
  return { ...rest, content: parseThinkTags(rest.content).content };
}
