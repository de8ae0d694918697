import type { JsonObject } from "nemo-gym";
import { newId, type ResponseOutputItem } from "nemo-gym/openai";

/** A message of a conversation in the manner of Chat Completions. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
}

/** What one answer of the model consists of besides its text. */
export interface Completion {
  /** The items of a model server that speaks the Responses API: they stay as they are, reasoning and token ids included. */
  items?: readonly ResponseOutputItem[];
  /** Of a chat completion: fields for training under the names of the inference engine. */
  provider_specific_fields?: JsonObject;
}

/**
 * A conversation as items of the Responses API: what the model said with its token ids, what it was told in between. A message
 * of a tool repeats the item before it, as in the original.
 */
export function chatToResponses(
  messages: readonly ChatMessage[],
  completions: readonly Completion[],
): ResponseOutputItem[] {
  const items: JsonObject[] = [];
  let turns = 0;
  for (const { role, content } of messages) {
    if (role === "assistant") {
      const completion = completions[turns++];
      if (completion === undefined)
        throw new RangeError(
          `There are ${turns} or more assistant messages, but only ${turns - 1} completions.`,
        );
      items.push(
        ...((completion.items as readonly JsonObject[] | undefined) ?? [assistantItem(content, completion)]),
      );
    } else if (role === "tool") {
      const before = items.at(-1);
      if (before === undefined)
        throw new RangeError("A conversation cannot begin with the message of a tool.");
      items.push(before);
    } else {
      items.push({
        content: [{ text: content, type: "input_text" }],
        role,
        status: "completed",
        type: "message",
      });
    }
  }
  return items as unknown as ResponseOutputItem[];
}

function assistantItem(text: string, { provider_specific_fields: fields = {} }: Completion): JsonObject {
  return {
    prompt_token_ids: fields["prompt_token_ids"] ?? [],
    generation_token_ids: fields["generation_token_ids"] ?? [],
    generation_log_probs: fields["generation_log_probs"] ?? [],
    routed_experts: fields["routed_experts"] ?? null,
    id: newId("msg"),
    content: [{ annotations: [], text, type: "output_text", logprobs: null }],
    role: "assistant",
    status: "completed",
    type: "message",
  };
}
