import type { JsonObject } from "nemo-gym";
import { newId, type ResponseOutputItem } from "nemo-gym/openai";

/** A message in the style of Chat Completions. */
export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
}

/** The parts of a model response besides its text. */
export interface Completion {
  /** The items of a Responses API server; they stay unchanged, including reasoning and token ids. */
  items?: readonly ResponseOutputItem[];
  /** Fields of a chat completion for training, with the names of the inference engine. */
  provider_specific_fields?: JsonObject;
}

/**
 * A conversation as items of the Responses API: the output of the model with its token ids, and its input in between. A tool
 * message repeats the item before it, as in the original.
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
