import { strip as stripSpace } from "../base/python/door.ts";
import { isObject, type JsonObject, JsonTextError, loadsPlain } from "../base/python/json/door.ts";
import {
  type FunctionCall,
  type FunctionCallOutput,
  HOSTED_CALL_TYPES,
  type ResponseInputItem,
  type ResponseOutputItem,
} from "./schemas/item-types.ts";
import { wordOf } from "./schemas/readers.ts";
import { typeOfUntyped } from "./schemas/validate-items.ts";

/** The part of a response that the readers use. */
export interface HasOutput {
  readonly output: readonly ResponseOutputItem[];
}

/** The text that the model wrote: the `output_text` parts of all messages, joined without a separator. */
export function outputText(response: HasOutput): string {
  let text = "";
  for (const item of response.output) {
    if (item?.type !== "message" || !Array.isArray(item.content)) continue;
    for (const part of item.content) if (part?.type === "output_text") text += part.text;
  }
  return text;
}

/** The content of the last output item: text or a refusal. */
export type LastItemText = { kind: "text"; text: string } | { kind: "refusal"; refusal: string };

/** Reads the first content part of the last output item. An item without content, such as a call, has the text "". */
export function readLastItem(response: HasOutput): LastItemText {
  const item = response.output.at(-1);
  const content = item !== undefined && "content" in item ? item.content : undefined;
  if (typeof content === "string") return { kind: "text", text: content };
  const part: unknown = Array.isArray(content) ? content[0] : undefined;
  if (typeof part !== "object" || part === null) return { kind: "text", text: "" };
  if ("refusal" in part) return { kind: "refusal", refusal: wordOf(part.refusal) };
  return { kind: "text", text: "text" in part && typeof part.text === "string" ? part.text : "" };
}

/** The text of the first content part of the last output item; "" for a refusal or without such a part. */
export function lastItemText(response: HasOutput): string {
  const last = readLastItem(response);
  return last.kind === "text" ? last.text : "";
}

/** Options for `lastAssistantText`. */
export interface LastAssistantTextOptions {
  /** Separator of the parts of the message. Default: a newline. */
  joiner?: string;
  /** Whether white space around the whole text is removed. Default true. */
  strip?: boolean;
}

/** The text of the last assistant message; "" if the model wrote none. */
export function lastAssistantText(response: HasOutput, options: LastAssistantTextOptions = {}): string {
  const { joiner = "\n", strip = true } = options;
  for (let index = response.output.length - 1; index >= 0; index--) {
    const item = response.output[index];
    if (item?.type !== "message" || (item.role ?? "assistant") !== "assistant") continue;
    const text = textParts(item.content).join(joiner);
    return strip ? stripSpace(text) : text;
  }
  return "";
}

/** The texts of a message's content. Content that is a text is one part; images and refusals have no text. */
export function textParts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) =>
    isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
}

/** The function calls of the model, in order. */
export function functionCalls(response: HasOutput): FunctionCall[] {
  return response.output.filter((item): item is FunctionCall => item.type === "function_call");
}

/** The results of function calls in the trajectory, in order. */
export function functionCallOutputs(response: HasOutput): FunctionCallOutput[] {
  return response.output.filter((item): item is FunctionCallOutput => item.type === "function_call_output");
}

/** A call's arguments, or the reason why they are invalid. */
export type ParsedArguments =
  | { ok: true; value: Record<string, unknown> }
  | { ok: false; reason: "not_json" | "not_object" };

/** Decodes the arguments of a call like `json.loads` of Python. Models write invalid JSON, so a failure is a value. */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown;
  try {
    value = loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonTextError) return { ok: false, reason: "not_json" };
    throw error;
  }
  return isObject(value) ? { ok: true, value } : { ok: false, reason: "not_object" };
}

/** Types of items that a model generates. Results and approvals are not among them. */
const GENERATED = new Set<string>(["reasoning", "function_call", ...HOSTED_CALL_TYPES]);

/** Whether the model generated this item. */
export function isGenerated(item: ResponseInputItem): boolean {
  const type = item.type ?? typeOfUntyped(item as JsonObject);
  if (type !== "message") return GENERATED.has(type);
  const { role = "assistant" } = item as { role?: unknown };
  return role === "assistant";
}

/** Splits a list of items at the first generated one, into the prompt and the output of the model. */
export function splitItems<T extends ResponseInputItem>(items: readonly T[]): { input: T[]; output: T[] } {
  const found = items.findIndex(isGenerated);
  const cut = found === -1 ? items.length : found;
  return { input: items.slice(0, cut), output: items.slice(cut) };
}

const MCP = "mcp__";

/**
 * The name of a tool without the prefix that MCP clients add for `serverName`. Names with the prefix of another server
 * are unchanged. Without `serverName`, the prefix of any server is removed.
 */
export function stripMcpPrefix(name: string, serverName?: string | null): string {
  if (serverName != null) {
    const prefix = `${MCP}${serverName}__`;
    return name.startsWith(prefix) ? name.slice(prefix.length) : name;
  }
  const end = name.startsWith(MCP) ? name.indexOf("__", MCP.length) : -1;
  return end === -1 ? name : name.slice(end + 2);
}
