import { dumps } from "../../python/json/json-dumps.ts";
import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { isTruthy } from "../../python/truth.ts";
import { type NewId, newId } from "../ids.ts";
import { ANTHROPIC_IMAGE_TYPES } from "../schemas/anthropic-types.ts";
import type { InputPart, ResponseInputItem } from "../schemas/item-types.ts";
import { wordOf } from "../schemas/readers.ts";
import { parseCreateParams, type ResponseCreateParams } from "../schemas/responses.ts";
import type { ToolChoice } from "../schemas/tool-types.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";

/** How a Messages request is read. */
export interface FromAnthropicOptions {
  newId?: NewId;
  /** Refuse what the Python original refuses although it could be converted: redacted thoughts. */
  refuseLikeOriginal?: boolean;
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
  "stream",
]);

/** Turns a client's Messages request into a Responses request; the body is read as it comes. */
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
  if (body["tool_choice"] != null) params["tool_choice"] = toToolChoice(body["tool_choice"], onLoss);
  for (const field of Object.keys(body)) {
    if (!CARRIED.has(field) && body[field] != null) {
      onLoss?.({ field, reason: "Responses requests have no such setting" });
    }
  }
  return parseCreateParams(params);
}

function systemText(system: unknown, onLoss?: OnLoss): string {
  if (system == null) return "";
  if (typeof system === "string") return system;
  const texts: string[] = [];
  for (const block of blocksOf(system, "system")) {
    if (block["type"] === "text" && isTruthy(block["text"])) texts.push(textAt(block, "text", "system"));
    else if (block["type"] !== "text")
      onLoss?.({ field: "system", reason: `'${wordOf(block["type"])}' blocks are not instructions` });
  }
  return texts.join("\n");
}

function blocksOf(value: unknown, where: string): JsonObject[] {
  if (!Array.isArray(value) || !value.every(isObject)) badValue(`${where} must be text or a list of blocks`);
  return value;
}

function textAt(block: JsonObject, name: string, where: string, missing?: string): string {
  const { [name]: value = missing } = block;
  return typeof value === "string" ? value : badValue(`${where}.${name} must be text`);
}

function messagesToItems(messages: unknown = [], options: FromAnthropicOptions = {}): ResponseInputItem[] {
  if (!Array.isArray(messages)) badValue("messages must be a list");
  const items: ResponseInputItem[] = [];
  for (const [index, message] of messages.entries()) {
    const where = `messages.${index}`;
    if (!isObject(message)) badValue(`${where} must be an object`);
    const role = textAt(message, "role", where) as "user" | "assistant";
    const { content = "" } = message;
    if (typeof content === "string") items.push({ content, role, type: "message" });
    else new BlockGrouping(role, items, options).addAll(blocksOf(content, where), where);
  }
  return items;
}

/** Puts neighbouring text and image blocks into one message; every other block is an item of its own. */
class BlockGrouping {
  readonly #role: "user" | "assistant";
  readonly #items: ResponseInputItem[];
  readonly #newId: NewId;
  readonly #onLoss: OnLoss | undefined;
  readonly #refuseLikeOriginal: boolean;
  #parts: InputPart[] = [];

  constructor(role: "user" | "assistant", items: ResponseInputItem[], options: FromAnthropicOptions) {
    this.#role = role;
    this.#items = items;
    this.#newId = options.newId ?? newId;
    this.#onLoss = options.onLoss;
    this.#refuseLikeOriginal = options.refuseLikeOriginal ?? false;
  }

  addAll(blocks: JsonObject[], where: string): void {
    for (const [index, block] of blocks.entries()) this.#add(block, `${where}.content.${index}`);
    this.#flush();
  }

  #add(block: JsonObject, where: string): void {
    switch (block["type"]) {
      case "text":
        this.#parts.push({ text: textAt(block, "text", where, ""), type: "input_text" });
        return;
      case "image":
        this.#parts.push(imagePart(block, where));
        return;
    }
    this.#flush();
    this.#items.push(this.#toItem(block, where));
  }

  #toItem(block: JsonObject, where: string): ResponseInputItem {
    switch (block["type"]) {
      case "tool_use": {
        const id = textAt(block, "id", where);
        const name = textAt(block, "name", where);
        const { input = {} } = block;
        const text = dumps(input);
        return { arguments: text, call_id: id, name, type: "function_call", id, status: "completed" };
      }
      case "tool_result": {
        const { content = "" } = block;
        if (block["is_error"] === true) {
          this.#onLoss?.({
            field: `${where}.is_error`,
            reason: "tool outputs do not say whether they are errors",
          });
        }
        return {
          call_id: textAt(block, "tool_use_id", where),
          output: toolResultText(content, where),
          type: "function_call_output",
        };
      }
      case "thinking":
        return {
          id: this.#newId("rs"),
          summary: [{ text: textAt(block, "thinking", where, ""), type: "summary_text" }],
          type: "reasoning",
          encrypted_content: block["signature"] == null ? null : textAt(block, "signature", where),
        };
      case "redacted_thinking":
        if (this.#refuseLikeOriginal) break;
        return {
          id: this.#newId("rs"),
          summary: [],
          type: "reasoning",
          encrypted_content: textAt(block, "data", where),
        };
    }
    return unsupported(`${where}: '${wordOf(block["type"])}' blocks have no form in Responses requests`);
  }

  #flush(): void {
    const [first] = this.#parts;
    if (first === undefined) return;
    const content = this.#parts.length === 1 && first.type === "input_text" ? first.text : this.#parts;
    this.#items.push({ content, role: this.#role, type: "message" });
    this.#parts = [];
  }
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

function toToolChoice(choice: unknown, onLoss?: OnLoss): ToolChoice {
  if (!isObject(choice)) badValue("tool_choice must be an object");
  if (choice["disable_parallel_tool_use"] === true) {
    onLoss?.({ field: "tool_choice.disable_parallel_tool_use", reason: "it is not carried over" });
  }
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
