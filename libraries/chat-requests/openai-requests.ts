import type { JsonObject } from "nemo-gym";
import type { ChatCreateParams, ChatMessage, ResponseCreateParams, ResponseInputItem } from "nemo-gym/openai";

/** Settings that affect outgoing requests. */
export interface OutboundSettings {
  openai_model: string;
  extra_body?: JsonObject | null | undefined;
  drop_input_reasoning_items?: boolean;
}

/** The body for `/responses`. Request keys override `extra_body`; the configured model overrides both. */
export function outboundResponses(params: ResponseCreateParams, settings: OutboundSettings): JsonObject {
  const body: JsonObject = { ...settings.extra_body, ...params, model: settings.openai_model };
  if (typeof params.input !== "string") {
    const kept = settings.drop_input_reasoning_items
      ? params.input.filter((item) => item.type !== "reasoning")
      : params.input;
    body["input"] = kept.map(withoutTokens);
  }
  return body;
}

/** The body for `/chat/completions`. */
export function outboundChat(params: ChatCreateParams, settings: OutboundSettings): JsonObject {
  const messages = params.messages.map(withoutTokens);
  return { ...settings.extra_body, ...params, messages, model: settings.openai_model };
}

/** Token lists are only for training engines; other endpoints reject unknown fields. */
function withoutTokens<Item extends ResponseInputItem | ChatMessage>(item: Item): Item {
  if (!("prompt_token_ids" in item) && !("generation_token_ids" in item)) return item;
  const {
    prompt_token_ids: _prompt,
    generation_token_ids: _generation,
    generation_log_probs: _logProbs,
    routed_experts: _experts,
    ...rest
  } = item as JsonObject;
  return rest as unknown as Item;
}
