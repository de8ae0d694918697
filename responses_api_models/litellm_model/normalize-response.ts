import type { JsonObject } from "nemo-gym";
import { assistantMessageToItems, parseChatCompletion, usageFromChat } from "nemo-gym/openai";

const NO_USAGE = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: null },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: null },
  total_tokens: 0,
};

/** Mends what proxies get wrong: a reasoning effort of "none", and chat completions where a response was asked for. */
export function normalizeResponse(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const data = body as JsonObject;
  if (data["object"] === "chat.completion") return fromCompletion(data);
  const reasoning = data["reasoning"] as JsonObject | null | undefined;
  return reasoning?.["effort"] === "none" ? { ...data, reasoning: { ...reasoning, effort: null } } : data;
}

function fromCompletion(data: JsonObject): JsonObject {
  const completion = parseChatCompletion(data);
  const message = completion.choices[0]?.message;
  const given = data["output"];
  return {
    id: data["id"] ?? "",
    created_at: data["created_at"] ?? data["created"] ?? 0,
    model: data["model"] ?? "",
    object: "response",
    output:
      Array.isArray(given) && given.length > 0
        ? given
        : message
          ? assistantMessageToItems(message, { usesReasoningParser: false })
          : [],
    parallel_tool_calls: data["parallel_tool_calls"] ?? false,
    tool_choice: data["tool_choice"] ?? "auto",
    tools: data["tools"] ?? [],
    usage: usageFromChat(data["usage"]) ?? NO_USAGE,
  };
}
