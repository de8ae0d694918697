import type { JsonObject } from "nemo-gym";
import { assistantMessageToItems, parseChatCompletion, usageFromChat } from "nemo-gym/openai";

const EMPTY = { role: "assistant", content: "" } as const;

/** Corrects errors of proxies: a reasoning effort of "none", and chat completions in place of a response. */
export function normalizeResponse(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const data = body as JsonObject;
  if (data["object"] === "chat.completion") return fromCompletion(data);
  const reasoning = data["reasoning"] as JsonObject | null | undefined;
  return reasoning?.["effort"] === "none" ? { ...data, reasoning: { ...reasoning, effort: null } } : data;
}

function fromCompletion(data: JsonObject): JsonObject {
  const { choices } = data;
  const isAnswered = Array.isArray(choices) && choices.length > 0;
  const message = (isAnswered && parseChatCompletion(data).choices[0]?.message) || EMPTY;
  const given = data["output"];
  return {
    id: data["id"] ?? "",
    created_at: data["created_at"] ?? data["created"] ?? 0,
    model: data["model"] ?? "",
    object: "response",
    output:
      Array.isArray(given) && given.length > 0
        ? given
        : assistantMessageToItems(message, { usesReasoningParser: false }),
    parallel_tool_calls: data["parallel_tool_calls"] ?? false,
    tool_choice: data["tool_choice"] ?? "auto",
    tools: data["tools"] ?? [],
    usage: usageOf(data["usage"]),
  };
}

/** Reads the usage with the names of either API; missing numbers count as 0, missing details stay unknown. */
function usageOf(given: unknown) {
  const usage = (given ?? {}) as JsonObject;
  const count = (...names: string[]) => {
    const found = names
      .map((name) => usage[name])
      .find((value) => Number.isInteger(value) && Number(value) > 0);
    return found === undefined ? 0 : Number(found);
  };
  const input_tokens = count("input_tokens", "prompt_tokens");
  const output_tokens = count("output_tokens", "completion_tokens");
  const total_tokens = count("total_tokens") || input_tokens + output_tokens;
  const counts = { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens };
  return usageFromChat({ ...usage, ...counts });
}
