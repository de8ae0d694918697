import type { JsonObject } from "../../base/python/json/door.ts";
import { type NewId, newId } from "../ids.ts";
import type { ChatCompletion, ChatToolCall } from "../schemas/chat-types.ts";
import type { Response } from "../schemas/responses.ts";
import { TOKEN_FIELDS } from "../tokens/token-fields.ts";
import type { OnLoss } from "./conversion-loss.ts";
import { ownUsage } from "./usage.ts";

export interface ToChatCompletionOptions {
  newId?: NewId;
  onLoss?: OnLoss;
}

const FINISH_REASONS = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
]);

/** Converts a Response to a chat completion: one message with text, separate reasoning, and calls. */
export function convertToChatCompletion(
  response: Response,
  options: ToChatCompletionOptions = {},
): ChatCompletion {
  const { newId: makeId = newId, onLoss } = options;
  let text: string | null = null;
  let refusal: string | null = null;
  const reasoning: string[] = [];
  const calls: ChatToolCall[] = [];
  const tokens: JsonObject = {};
  for (const [index, item] of response.output.entries()) {
    for (const field of TOKEN_FIELDS) {
      const value = (item as unknown as JsonObject)[field];
      if (value !== undefined) tokens[field] = value;
    }
    if (item.type === "message") {
      for (const part of typeof item.content === "string" ? [] : item.content) {
        if (part.type === "output_text") text = (text ?? "") + part.text;
        else if (part.type === "refusal") refusal = (refusal ?? "") + part.refusal;
      }
    } else if (item.type === "reasoning")
      for (const { text: thought } of item.summary) reasoning.push(thought);
    else if (item.type === "function_call") {
      calls.push({
        id: item.call_id,
        type: "function",
        function: { name: item.name, arguments: item.arguments },
      });
    } else onLoss?.({ field: `output.${index}`, reason: `chat completions have no ${item.type} items` });
  }
  const finish = FINISH_REASONS.get(response.incomplete_details?.reason ?? "");
  return {
    id: makeId("resp").replace(/^resp_/, "chatcmpl-"),
    object: "chat.completion",
    created: Math.floor(response.created_at),
    model: response.model,
    choices: [
      {
        index: 0,
        finish_reason: finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
        message: {
          role: "assistant",
          content: text,
          ...(refusal !== null && { refusal }),
          ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n") }),
          ...(calls.length > 0 && { tool_calls: calls }),
          ...tokens,
        },
      },
    ],
    ...(response.usage && {
      usage: {
        prompt_tokens: response.usage.input_tokens,
        completion_tokens: response.usage.output_tokens,
        total_tokens: response.usage.total_tokens,
        prompt_tokens_details: response.usage.input_tokens_details,
        completion_tokens_details: response.usage.output_tokens_details,
        ...ownUsage(response.usage),
      },
    }),
  } as unknown as ChatCompletion;
}
