import { isTruthy } from "../../base/python/door.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import {
  ANTHROPIC_IMAGE_TYPES,
  type AnthropicBlock,
  type AnthropicImageBlock,
  type AnthropicImageType,
  type AnthropicMessageParam,
  type AnthropicRequest,
  type AnthropicThinking,
  type AnthropicTool,
  type AnthropicToolChoice,
} from "../schemas/anthropic-types.ts";
import type {
  FunctionCall,
  FunctionCallOutput,
  InputPart,
  Reasoning,
  ResponseInputItem,
  Tool,
  ToolChoice,
} from "../schemas/item-types.ts";
import { wordOf } from "../schemas/readers.ts";
import type { ResponseCreateParams } from "../schemas/responses.ts";
import { badValue, type OnLoss, textAt, unsupported } from "./conversion-loss.ts";
import { STORED_CONTEXT } from "./convert-responses-to-chat.ts";
import { thinkingBlocks, toolUseBlock } from "./convert-to-anthropic-message.ts";

/** Options for the conversion to a Messages request. */
export interface ToAnthropicRequestOptions {
  model: string;
  /** The limit for a request without `max_output_tokens`, because the Messages API requires one. */
  maxTokens: number;
  /** Further keys of the body. Keys that the conversion sets take precedence. */
  extraBody?: JsonObject;
  /** Only one of `thinking`, `thinkingBudgetTokens` and `extraBody.thinking` may be set. */
  thinking?: AnthropicThinking | null;
  thinkingBudgetTokens?: number | null;
  onLoss?: OnLoss;
}

const LOST = [
  "background",
  "include",
  "max_tool_calls",
  "metadata",
  "reasoning",
  "service_tier",
  "store",
  "truncation",
  "user",
] as const satisfies (keyof ResponseCreateParams)[];

/** Converts a Responses request to a Messages request for a backend with that API. */
export function convertToAnthropicRequest(
  params: ResponseCreateParams,
  options: ToAnthropicRequestOptions,
): AnthropicRequest {
  const { model, maxTokens, extraBody = {}, onLoss } = options;
  const system: string[] = params.instructions ? [params.instructions] : [];
  const messages: AnthropicMessageParam[] = [];
  const items: ResponseInputItem[] =
    typeof params.input === "string" ? [{ role: "user", content: params.input }] : params.input;
  for (const [index, item] of items.entries()) addItem(item, index, messages, system, onLoss);

  const body: AnthropicRequest = {
    ...extraBody,
    model,
    max_tokens: params.max_output_tokens || maxTokens,
    messages,
  };
  const texts = system.filter((text) => text !== "");
  if (system.length > 0) body.system = texts.map((text) => ({ type: "text", text }));
  if (params.temperature != null) body.temperature = params.temperature;
  if (params.top_p != null) body.top_p = params.top_p;
  rejectSampling(body);
  if (params.tools && params.tools.length > 0) body.tools = params.tools.map(toAnthropicTool);
  if (params.tool_choice !== undefined) body.tool_choice = toAnthropicChoice(params.tool_choice);
  if (params.parallel_tool_calls === false && body.tools && body.tool_choice?.type !== "none")
    body.tool_choice = { ...(body.tool_choice ?? { type: "auto" }), disable_parallel_tool_use: true };
  setOutputFormat(body, params, onLoss);
  setThinking(body, options);
  for (const field of LOST) {
    if (params[field] != null) onLoss?.({ field, reason: "Messages requests have no such setting" });
  }
  for (const field of [...STORED_CONTEXT, "top_logprobs"] as const) {
    if (params[field]) onLoss?.({ field, reason: "Messages requests have no such setting", essential: true });
  }
  return body;
}

/** Only a schema constrains the answers of this API; a format without one is rejected. */
function setOutputFormat(body: AnthropicRequest, { text }: ResponseCreateParams, onLoss?: OnLoss): void {
  const { format, verbosity } = text ?? {};
  if (verbosity != null)
    onLoss?.({ field: "text.verbosity", reason: "Messages requests have no such setting" });
  if (format == null || format.type === "text") return;
  if (format.type !== "json_schema")
    unsupported(`text.format of type '${format.type}' has no form in Messages requests; use json_schema`);
  body.output_config = {
    ...body.output_config,
    format: { type: "json_schema", schema: format.schema },
  };
}

function addItem(
  item: ResponseInputItem,
  index: number,
  messages: AnthropicMessageParam[],
  system: string[],
  onLoss: OnLoss | undefined,
) {
  switch (item.type ?? "message") {
    case "message":
      addMessage(item as unknown as JsonObject, index, messages, system, onLoss);
      break;
    case "reasoning":
      append(messages, "assistant", thinkingBlocks(item as Reasoning));
      break;
    case "function_call":
      append(messages, "assistant", [toolUseBlock(item as FunctionCall)]);
      break;
    case "function_call_output": {
      const { call_id, output } = item as FunctionCallOutput;
      const content = typeof output === "string" ? output : output.map((part) => resultPart(part, index));
      append(messages, "user", [{ type: "tool_result", tool_use_id: call_id, content }]);
      break;
    }
    default:
      unsupported(`input.${index}: '${item.type}' items have no form in Messages requests`);
  }
}

function addMessage(
  item: JsonObject,
  index: number,
  messages: AnthropicMessageParam[],
  system: string[],
  onLoss: OnLoss | undefined,
) {
  const { role, content = "" } = item;
  if (role === "system" || role === "developer") {
    system.push(systemText(content, index));
  } else if (role === "user" || role === "assistant") {
    const blocks = contentBlocks(content, role, index);
    // The API rejects text blocks that are empty.
    const filled = blocks.filter((block) => !isBlank(block));
    if (filled.length < blocks.length)
      onLoss?.({ field: `input.${index}.content`, reason: "Messages requests cannot hold empty texts" });
    if (filled.length > 0) append(messages, role, filled);
  } else {
    unsupported(`input.${index}: messages of role '${wordOf(role)}' have no form in Messages requests`);
  }
}

/** Consecutive items of one role share a message, because the API requires alternating roles. */
function append(messages: AnthropicMessageParam[], role: "user" | "assistant", blocks: AnthropicBlock[]) {
  const last = messages.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else messages.push({ role, content: [...blocks] });
}

function isBlank(block: AnthropicBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}

const TEXT_PARTS = new Set<unknown>(["input_text", "output_text", "text"]);

function systemText(content: unknown, index: number): string {
  if (typeof content === "string") return content;
  return partsOf(content, index)
    .map((part) =>
      TEXT_PARTS.has(part["type"]) ? textAt(part, "text", `input.${index}.content`) : noForm(part, index),
    )
    .join("\n");
}

function contentBlocks(content: unknown, role: "user" | "assistant", index: number): AnthropicBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return partsOf(content, index).map((part): AnthropicBlock => {
    if (TEXT_PARTS.has(part["type"]))
      return { type: "text", text: textAt(part, "text", `input.${index}.content`) };
    if (part["type"] === "input_image" && role === "user") return imageBlock(part["image_url"], index);
    if (part["type"] === "refusal" && role === "assistant")
      return { type: "text", text: textAt(part, "refusal", `input.${index}.content`) };
    return noForm(part, index);
  });
}

function partsOf(content: unknown, index: number): JsonObject[] {
  if (!Array.isArray(content) || !content.every(isObject)) {
    badValue(`input.${index}.content must be text or a list of parts`);
  }
  return content;
}

const noForm = (part: JsonObject, index: number): never =>
  unsupported(
    `input.${index}: '${wordOf(part["type"])}' parts have no form in this place of a Messages request`,
  );

function resultPart(part: InputPart, index: number): AnthropicImageBlock | { type: "text"; text: string } {
  if (part.type === "input_text") return { type: "text", text: part.text };
  if (part.type === "input_image") return imageBlock(part.image_url, index);
  return unsupported(`input.${index}: a tool result cannot carry '${part.type}' parts`);
}

function imageBlock(value: unknown, index: number): AnthropicImageBlock {
  const url = isObject(value) ? value["url"] : value;
  const { mediaType, data } = parseImageDataUrl(url, `input.${index}`);
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

function toAnthropicTool(tool: Tool, index: number): AnthropicTool {
  if (tool.type !== "function")
    unsupported(`tools.${index}: '${tool.type}' tools have no form in Messages requests`);
  const schema = (
    isTruthy(tool.parameters) ? tool.parameters : { type: "object", properties: {} }
  ) as AnthropicTool["input_schema"];
  const converted: AnthropicTool = { name: tool.name, input_schema: schema };
  if (tool.description) converted.description = tool.description;
  return converted;
}

function toAnthropicChoice(choice: ToolChoice): AnthropicToolChoice {
  if (choice === "required") return { type: "any" };
  if (choice === "auto" || choice === "none") return { type: choice };
  if (choice.type === "function" && typeof choice["name"] === "string")
    return { type: "tool", name: choice["name"] };
  return unsupported(`tool_choice of type '${choice.type}' has no form in Messages requests`);
}

/** Models that reject sampling parameters. The conversion fails earlier, with the names of the parameters. */
const NO_SAMPLING = ["claude-opus-4-7", "claude-opus-4-8"];

function rejectSampling(body: AnthropicRequest): void {
  if (!NO_SAMPLING.some((name) => body.model.includes(name))) return;
  const source = body as unknown as JsonObject;
  const given = ["temperature", "top_p", "top_k"].filter((name) => source[name] != null);
  if (given.length > 0) badValue(`${body.model} takes no sampling parameters; leave out ${given.join(", ")}`);
}

function setThinking(body: AnthropicRequest, options: ToAnthropicRequestOptions): void {
  const { thinking, thinkingBudgetTokens: budget } = options;
  const sources = [body.thinking !== undefined, thinking != null, budget != null];
  if (sources.filter(Boolean).length > 1)
    badValue("thinking is configured in more than one of: thinking, budget, extra_body");
  if (thinking != null) body.thinking = thinking;
  else if (budget != null) body.thinking = { type: "enabled", budget_tokens: budget };
}

const SCHEME = "data:";

/** Parses a base64 data URL of an image. Rejects links, other encodings and other image types. */
export function parseImageDataUrl(
  url: unknown,
  where: string,
): { mediaType: AnthropicImageType; data: string } {
  if (typeof url !== "string" || !url.startsWith(SCHEME)) {
    return badValue(`${where}: images must be base64 data URLs`);
  }
  const comma = url.indexOf(",");
  const data = comma === -1 ? "" : url.slice(comma + 1);
  if (data === "") badValue(`${where}: the data URL holds no image`);
  const [given = "", ...parameters] = url.slice(SCHEME.length, comma).split(";");
  if (!parameters.includes("base64")) badValue(`${where}: images must be base64 data URLs`);
  const named = given.toLowerCase();
  const mediaType = ANTHROPIC_IMAGE_TYPES.find(
    (type) => type === (named === "image/jpg" ? "image/jpeg" : named),
  );
  if (mediaType === undefined) {
    return badValue(`${where}: '${named}' is not one of ${ANTHROPIC_IMAGE_TYPES.join(", ")}`);
  }
  if (!isBase64(data)) badValue(`${where}: the data URL is not base64`);
  return { mediaType, data };
}

/** Superfluous padding is accepted; missing padding is not. */
function isBase64(data: string): boolean {
  const match = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(data);
  if (match === null || data.endsWith("\n")) return false;
  const [, digits = "", padding = ""] = match;
  const rest = digits.length % 4;
  return rest === 0 || (rest > 1 && padding.length >= 4 - rest);
}
