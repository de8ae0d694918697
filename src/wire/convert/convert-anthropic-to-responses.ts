import { isTruthy } from "../../base/python/door.ts";
import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { type NewId, newId } from "../ids.ts";
import { ANTHROPIC_IMAGE_TYPES } from "../schemas/anthropic-types.ts";
import type {
  FunctionCall,
  InputPart,
  Reasoning,
  ResponseInputItem,
  ResponseOutputItem,
  ToolChoice,
} from "../schemas/item-types.ts";
import { int, nullish, object, optional, type Reader, readWith, reject, wordOf } from "../schemas/readers.ts";
import { parseCreateParams, type Response, type ResponseCreateParams } from "../schemas/responses.ts";
import { badValue, type OnLoss, textAt, unsupported } from "./conversion-loss.ts";
import { responseEnvelope } from "./response-envelope.ts";
import type { Usage } from "./usage.ts";

/** Options for the conversion of a Messages request. */
export interface FromAnthropicOptions {
  newId?: NewId;
  onLoss?: OnLoss;
}

const CARRIED = new Set([
  "system",
  "messages",
  "model",
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "output_config",
  "stream",
]);

/** Settings without an equivalent that change the answer. */
const ESSENTIAL = new Set(["top_k", "stop_sequences", "mcp_servers", "container"]);

/** Converts the Messages request of a client, which has not been validated, to a Responses request. */
export function convertAnthropicRequest(
  body: unknown,
  options: FromAnthropicOptions = {},
): ResponseCreateParams {
  if (!isObject(body)) badValue("a Messages request must be a JSON object");
  const { onLoss } = options;
  const params: JsonObject = { input: messagesToItems(body["messages"], options) };
  const instructions = systemText(body["system"], onLoss);
  if (instructions !== "") params["instructions"] = instructions;
  if (body["model"] != null) params["model"] = body["model"];
  if (body["max_tokens"] != null) params["max_output_tokens"] = body["max_tokens"];
  if (body["temperature"] != null) params["temperature"] = body["temperature"];
  if (body["top_p"] != null) params["top_p"] = body["top_p"];
  const tools = toTools(body["tools"], onLoss);
  if (tools.length > 0) params["tools"] = tools;
  if (body["tool_choice"] != null) {
    params["tool_choice"] = toToolChoice(body["tool_choice"]);
    if ((body["tool_choice"] as JsonObject)["disable_parallel_tool_use"] === true)
      params["parallel_tool_calls"] = false;
  }
  if (body["output_config"] != null) addOutputConfig(params, body["output_config"], onLoss);
  for (const field of Object.keys(body)) {
    const value = body[field];
    if (CARRIED.has(field) || value == null || (Array.isArray(value) && value.length === 0)) continue;
    const essential = ESSENTIAL.has(field);
    onLoss?.({ field, reason: "Responses requests have no such setting", ...(essential && { essential }) });
  }
  return parseCreateParams(params);
}

function systemText(system: unknown, onLoss?: OnLoss): string {
  if (system == null) return "";
  if (typeof system === "string") return system;
  const texts: string[] = [];
  for (const block of blocksOf(system, "system")) {
    if (block["type"] !== "text")
      onLoss?.({ field: "system", reason: `'${wordOf(block["type"])}' blocks are not instructions` });
    else if (isTruthy(block["text"])) texts.push(textAt(block, "text", "system"));
  }
  return texts.join("\n");
}

function blocksOf(value: unknown, where: string): JsonObject[] {
  if (!Array.isArray(value) || !value.every(isObject)) badValue(`${where} must be text or a list of blocks`);
  return value;
}

function messagesToItems(messages: unknown, options: FromAnthropicOptions): ResponseInputItem[] {
  const given = messages === undefined ? [] : messages;
  if (!Array.isArray(given)) badValue("messages must be a list");
  return given.flatMap((message: unknown, index): ResponseInputItem[] => {
    const where = `messages.${index}`;
    if (!isObject(message)) badValue(`${where} must be an object`);
    const role = textAt(message, "role", where) as "user" | "assistant";
    const { content = "" } = message;
    if (typeof content === "string") return [{ content, role, type: "message" }];
    return blocksToItems(blocksOf(content, where), role, where, options);
  });
}

/** Consecutive text and image blocks become one message; every other block becomes an item. */
function blocksToItems(
  blocks: readonly JsonObject[],
  role: "user" | "assistant",
  where: string,
  options: FromAnthropicOptions,
): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  let parts: InputPart[] = [];
  const flush = () => {
    const [first] = parts;
    if (first === undefined) return;
    const content = parts.length === 1 && first.type === "input_text" ? first.text : parts;
    items.push({ content, role, type: "message" });
    parts = [];
  };
  for (const [index, block] of blocks.entries()) {
    const location = `${where}.content.${index}`;
    if (block["type"] === "text") {
      parts.push({ text: textAt(block, "text", location, ""), type: "input_text" });
    } else if (block["type"] === "image") parts.push(imagePart(block, location));
    else {
      flush();
      items.push(blockToItem(block, location, options));
    }
  }
  flush();
  return items;
}

function blockToItem(
  block: JsonObject,
  where: string,
  { newId: makeId = newId, onLoss }: FromAnthropicOptions,
): ResponseInputItem {
  switch (block["type"]) {
    case "tool_use":
      return callItem(textAt(block, "id", where), textAt(block, "name", where), block["input"]);
    case "tool_result": {
      const { content = "" } = block;
      if (block["is_error"] === true) {
        onLoss?.({ field: `${where}.is_error`, reason: "tool outputs do not say whether they are errors" });
      }
      return {
        call_id: textAt(block, "tool_use_id", where),
        output: toolResultText(content, where),
        type: "function_call_output",
      };
    }
    case "thinking":
      return thinkingItem(makeId, block, "thinking", where);
    case "redacted_thinking":
      return reasoningItem(makeId, [], textAt(block, "data", where));
    default:
      return unsupported(`${where}: '${wordOf(block["type"])}' blocks have no form in Responses requests`);
  }
}

function callItem(id: string, name: string, input: unknown): FunctionCall {
  const text = dumps(input === undefined ? {} : input);
  return { arguments: text, call_id: id, name, type: "function_call", id, status: "completed" };
}

function thinkingItem(makeId: NewId, block: JsonObject, name: string, where: string): Reasoning {
  const signature = block["signature"] == null ? null : textAt(block, "signature", where);
  return reasoningItem(makeId, [textAt(block, name, where, "")], signature);
}

function reasoningItem(makeId: NewId, texts: readonly string[], encrypted_content: string | null): Reasoning {
  const summary = texts.map((text) => ({ text, type: "summary_text" as const }));
  return { id: makeId("rs"), summary, type: "reasoning", encrypted_content };
}

function imagePart(block: JsonObject, where: string): InputPart {
  const source = block["source"];
  if (!isObject(source) || source["type"] !== "base64")
    unsupported(`${where}: only base64 images can be carried`);
  const mediaType = textAt(source, "media_type", where);
  if (!(ANTHROPIC_IMAGE_TYPES as readonly string[]).includes(mediaType)) {
    badValue(`${where}: '${mediaType}' is not one of ${ANTHROPIC_IMAGE_TYPES.join(", ")}`);
  }
  const image_url = `data:${mediaType};base64,${textAt(source, "data", where)}`;
  return { detail: "auto", type: "input_image", image_url };
}

function toolResultText(content: unknown, where: string): string {
  if (typeof content === "string") return content;
  const texts = blocksOf(content, `${where}.content`).map((block) => {
    if (block["type"] === "text") return textAt(block, "text", where, "");
    return unsupported(`${where}: a tool result can carry text only, not '${wordOf(block["type"])}'`);
  });
  return texts.join("\n");
}

function toTools(tools: unknown, onLoss?: OnLoss): JsonObject[] {
  if (!isTruthy(tools)) return [];
  if (!Array.isArray(tools)) badValue("tools must be a list");
  return tools.map((tool: unknown, index): JsonObject => {
    if (!isObject(tool)) badValue(`tools.${index} must be an object`);
    if (tool["type"] != null && tool["type"] !== "custom") {
      onLoss?.({ field: `tools.${index}.type`, reason: "every tool becomes a plain function" });
    }
    return {
      type: "function",
      name: textAt(tool, "name", `tools.${index}`),
      description: tool["description"] ?? null,
      parameters: isTruthy(tool["input_schema"]) ? tool["input_schema"] : { type: "object", properties: {} },
      strict: false,
    };
  });
}

/** Formats of the Responses API have a name, those of the Messages API do not. */
const FORMAT_NAME = "output";

function addOutputConfig(params: JsonObject, config: unknown, onLoss?: OnLoss): void {
  if (!isObject(config)) badValue("output_config must be an object");
  const { format, ...rest } = config;
  if (format != null) {
    if (!isObject(format) || format["type"] !== "json_schema" || !isObject(format["schema"]))
      badValue("output_config.format must be {type: json_schema, schema: {…}}");
    params["text"] = {
      format: { type: "json_schema", name: FORMAT_NAME, schema: format["schema"], strict: true },
    };
  }
  for (const [field, value] of Object.entries(rest))
    if (value != null)
      onLoss?.({ field: `output_config.${field}`, reason: "Responses requests have no such setting" });
}

function toToolChoice(choice: unknown): ToolChoice {
  if (!isObject(choice)) badValue("tool_choice must be an object");
  switch (choice["type"]) {
    case "auto":
    case "none":
      return choice["type"];
    case "any":
      return "required";
    case "tool":
      return { type: "function", name: textAt(choice, "name", "tool_choice") };
    default:
      return unsupported(`tool_choice of type '${wordOf(choice["type"])}' has no form in Responses requests`);
  }
}

/** Options for the conversion of a Messages answer. */
export interface FromAnthropicMessageOptions {
  model: string;
  newId?: NewId;
  /** Unix time in seconds, because a Messages answer has no time. Default: the current time. */
  now?: number;
  onLoss?: OnLoss;
}

const INCOMPLETE_REASONS = new Map([
  ["max_tokens", "max_output_tokens"],
  ["model_context_window_exceeded", "max_output_tokens"],
  ["refusal", "content_filter"],
]);

/** Converts the answer of a Messages backend to a Response. */
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
    output: answerItems(message["content"], makeId),
    incomplete_details: reason === undefined ? null : { reason },
    usage: toUsage(message["usage"]),
  };
}

/** Consecutive texts are joined. An answer without content becomes an empty message. */
function answerItems(given: unknown, makeId: NewId): ResponseOutputItem[] {
  const content = given === undefined ? [] : given;
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
    const where = `content.${index}`;
    if (block["type"] === "text") texts.push(textAt(block, "text", where, ""));
    else {
      flush();
      items.push(answerItem(block, where, makeId));
    }
  }
  if (items.length === 0 && texts.length === 0) texts.push("");
  flush();
  return items;
}

function answerItem(block: JsonObject, where: string, makeId: NewId): ResponseOutputItem {
  switch (block["type"]) {
    case "thinking":
      return thinkingItem(makeId, block, isTruthy(block["thinking"]) ? "thinking" : "text", where);
    case "tool_use": {
      const { id, name } = block;
      if (typeof id !== "string" || typeof name !== "string") badValue(`${where} lacks its id or name`);
      return callItem(id, name, block["input"]);
    }
    case "redacted_thinking":
      return reasoningItem(makeId, [], textAt(block, "data", where, ""));
    default:
      return unsupported(`${where}: '${wordOf(block["type"])}' blocks have no form in responses`);
  }
}

/** A count must be a number. Numeric text is rejected. */
const count: Reader<number> = (value, trail) =>
  typeof value === "string"
    ? reject(trail, "int_type", "Input should be a valid integer", value)
    : int(value, trail);
const readCounts = object<{
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number | null;
}>({
  input_tokens: optional(count),
  output_tokens: optional(count),
  cache_read_input_tokens: nullish(int),
});

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
