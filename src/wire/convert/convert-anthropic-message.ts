import { dumps } from "../../python/json/json-dumps.ts";
import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { isTruthy } from "../../python/truth.ts";
import { type NewId, newId } from "../ids.ts";
import type { ResponseOutputItem } from "../schemas/item-types.ts";
import {
  int,
  nullable,
  object,
  optional,
  type Reader,
  readWith,
  refuse,
  wordOf,
} from "../schemas/readers.ts";
import type { Response, ResponseCreateParams } from "../schemas/responses.ts";
import { responseEnvelope } from "../stream/response-envelope.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";
import type { Usage } from "./usage.ts";

/** How a Messages answer is read. */
export interface FromAnthropicMessageOptions {
  model: string;
  newId?: NewId;
  /** Unix time in seconds; a Messages answer does not say when it was made. */
  now?: number;
  /** Refuse what the Python original refuses although it could be converted: redacted thoughts. */
  refuseLikeOriginal?: boolean;
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
    output: toItems(message["content"], { ...options, newId: makeId }),
    incomplete_details: reason === undefined ? null : { reason },
    usage: toUsage(message["usage"]),
  };
}

type ItemOptions = FromAnthropicMessageOptions & { newId: NewId };

function toItems(given: unknown, options: ItemOptions): ResponseOutputItem[] {
  const content = given === undefined ? [] : given;
  const { newId: makeId } = options;
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
    items.push(toItem(block, index, options));
  }
  flush();
  if (items.length > 0) return items;
  texts.push("");
  flush();
  return items;
}

function toItem(
  block: JsonObject,
  index: number,
  { newId: makeId, refuseLikeOriginal }: ItemOptions,
): ResponseOutputItem {
  switch (block["type"]) {
    case "thinking":
      return {
        id: makeId("rs"),
        summary: [
          {
            text: textAt(block, isTruthy(block["thinking"]) ? "thinking" : "text", index),
            type: "summary_text",
          },
        ],
        type: "reasoning",
        encrypted_content: block["signature"] == null ? null : textAt(block, "signature", index),
      };
    case "tool_use": {
      const { id, name } = block;
      if (typeof id !== "string" || typeof name !== "string")
        badValue(`content.${index} lacks its id or name`);
      const { input = {} } = block;
      const text = dumps(input);
      return { arguments: text, call_id: id, name, type: "function_call", id, status: "completed" };
    }
    case "redacted_thinking":
      if (refuseLikeOriginal) break;
      return {
        id: makeId("rs"),
        summary: [],
        type: "reasoning",
        encrypted_content: textAt(block, "data", index),
      };
  }
  return unsupported(`content.${index}: '${wordOf(block["type"])}' blocks have no form in responses`);
}

function textAt(block: JsonObject, name: string, index: number): string {
  const { [name]: value = "" } = block;
  return typeof value === "string" ? value : badValue(`content.${index}.${name} must be text`);
}

/** Counts are numbers. Numeric text does not count as one. */
const count: Reader<number> = (value, trail) =>
  typeof value === "string"
    ? refuse(trail, "int_type", "Input should be a valid integer", value)
    : int(value, trail);
const readCounts = object<{
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number | null;
}>(
  {
    input_tokens: optional(count),
    output_tokens: optional(count),
    cache_read_input_tokens: optional(nullable(int)),
  },
  "drop",
);

function toUsage(usage: unknown): Usage | null {
  if (usage == null) return null;
  const {
    input_tokens: input = 0,
    output_tokens: output = 0,
    cache_read_input_tokens: cached = null,
  } = readWith(readCounts, usage, ["usage"]);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: null },
    total_tokens: input + output,
  };
}
