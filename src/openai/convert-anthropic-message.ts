import { dumps } from "../python/json-dumps.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";
import { type NewId, newId } from "./ids.ts";
import type { ResponseOutputItem } from "./item-types.ts";
import { isObject, type JsonObject, wordOf } from "./readers.ts";
import { responseEnvelope } from "./response-envelope.ts";
import type { Response, ResponseCreateParams } from "./responses.ts";
import { countOf, type Usage } from "./usage.ts";

/** How a Messages answer is read. */
export interface FromAnthropicMessageOptions {
  model: string;
  newId?: NewId;
  /** Unix time in seconds; a Messages answer does not say when it was made. */
  now?: number;
  onLoss?: OnLoss;
}

const INCOMPLETE_REASONS = new Map(
  Object.entries({
    max_tokens: "max_output_tokens",
    model_context_window_exceeded: "max_output_tokens",
    refusal: "content_filter",
  }),
);

/** Turns a Messages backend's answer into a Response. */
export function convertAnthropicMessage(
  message: unknown,
  request: ResponseCreateParams,
  options: FromAnthropicMessageOptions,
): Response {
  if (!isObject(message)) badValue("a Messages answer must be a JSON object");
  const { model, newId: makeId = newId, now = Math.floor(Date.now() / 1000), onLoss } = options;
  const reason = INCOMPLETE_REASONS.get(wordOf(message["stop_reason"]));
  if (message["stop_sequence"] != null) {
    onLoss?.({ field: "stop_sequence", reason: "responses do not say which stop sequence was met" });
  }
  return {
    ...responseEnvelope(request, { model, createdAt: now, newId: makeId }),
    output: toItems(message["content"] ?? [], makeId),
    incomplete_details: reason === undefined ? null : { reason },
    usage: toUsage(message["usage"]),
  };
}

function toItems(content: unknown, makeId: NewId): ResponseOutputItem[] {
  if (!Array.isArray(content) || !content.every(isObject)) badValue("content must be a list of blocks");
  const items: ResponseOutputItem[] = [];
  let texts: string[] = [];
  const flush = () => {
    if (texts.length === 0) return;
    items.push({
      id: makeId("msg"),
      content: [{ annotations: [], text: texts.join(""), type: "output_text", logprobs: null }],
      role: "assistant",
      status: "completed",
      type: "message",
    });
    texts = [];
  };
  for (const [index, block] of content.entries()) {
    if (block["type"] === "text") {
      texts.push(textAt(block, "text", index));
      continue;
    }
    flush();
    items.push(toItem(block, index, makeId));
  }
  flush();
  if (items.length > 0) return items;
  texts.push("");
  flush();
  return items;
}

function toItem(block: JsonObject, index: number, makeId: NewId): ResponseOutputItem {
  switch (block["type"]) {
    case "thinking":
      return {
        id: makeId("rs"),
        summary: [{ text: textAt(block, "thinking", index), type: "summary_text" }],
        type: "reasoning",
        encrypted_content: typeof block["signature"] === "string" ? block["signature"] : null,
      };
    case "tool_use": {
      const { id, name } = block;
      if (typeof id !== "string" || typeof name !== "string")
        badValue(`content.${index} lacks its id or name`);
      const text = dumps(block["input"] ?? {});
      return { arguments: text, call_id: id, name, type: "function_call", id, status: "completed" };
    }
    default:
      return unsupported(`content.${index}: '${wordOf(block["type"])}' blocks have no form in responses`);
  }
}

function textAt(block: JsonObject, name: string, index: number): string {
  const value = block[name] ?? "";
  return typeof value === "string" ? value : badValue(`content.${index}.${name} must be text`);
}

function toUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const input = countOf(usage["input_tokens"]) ?? 0;
  const output = countOf(usage["output_tokens"]) ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: countOf(usage["cache_read_input_tokens"]) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: null },
    total_tokens: input + output,
  };
}
