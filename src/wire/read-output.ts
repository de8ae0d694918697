import { JsonTextError, loadsPlain } from "../python/json/json-loads.ts";
import { isObject } from "../python/json/json-object.ts";
import { strip as stripSpace } from "../python/whitespace.ts";
import type { FunctionCall, FunctionCallOutput, ResponseOutputItem } from "./schemas/item-types.ts";
import { wordOf } from "./schemas/readers.ts";

/** The part of a response that the readers use. */
export interface HasOutput {
  readonly output: readonly ResponseOutputItem[];
}

/** All the text the model wrote: every `output_text` part of every message, joined with nothing between. */
export function outputText(response: HasOutput): string {
  let text = "";
  for (const item of response.output) {
    if (item.type !== "message" || !Array.isArray(item.content)) continue;
    for (const part of item.content) if (part.type === "output_text") text += part.text;
  }
  return text;
}

/** What the first content part of the last output item says. */
export type LastItemText = { kind: "text"; text: string } | { kind: "refusal"; refusal: string };

/** The last output item's first content part; an item without content (a call, bare reasoning) reads as "". */
export function readLastItem(response: HasOutput): LastItemText {
  const item = response.output.at(-1);
  const content = item !== undefined && "content" in item ? item.content : undefined;
  if (typeof content === "string") return { kind: "text", text: content };
  const part: unknown = Array.isArray(content) ? content[0] : undefined;
  if (typeof part !== "object" || part === null) return { kind: "text", text: "" };
  if ("refusal" in part) return { kind: "refusal", refusal: wordOf(part.refusal) };
  return { kind: "text", text: "text" in part && typeof part.text === "string" ? part.text : "" };
}

/** The text of the last output item's first content part; "" where there is none and for a refusal. */
export function lastItemText(response: HasOutput): string {
  const last = readLastItem(response);
  return last.kind === "text" ? last.text : "";
}

/** How the parts of the message are put together. */
export interface LastAssistantTextOptions {
  /** Goes between the parts of the message; a newline unless given. */
  joiner?: string;
  /** Whether white space around the whole text is removed; yes unless told otherwise. */
  strip?: boolean;
}

/** The text of the last assistant message, searching backwards; "" when the model wrote none. */
export function lastAssistantText(response: HasOutput, options: LastAssistantTextOptions = {}): string {
  const { joiner = "\n", strip = true } = options;
  for (let index = response.output.length - 1; index >= 0; index--) {
    const item = response.output[index];
    if (item?.type !== "message" || (item.role ?? "assistant") !== "assistant") continue;
    const text = typeof item.content === "string" ? item.content : joinParts(item.content, joiner);
    return strip ? stripSpace(text) : text;
  }
  return "";
}

function joinParts(parts: readonly object[], joiner: string): string {
  const texts: string[] = [];
  for (const part of parts) if ("text" in part && typeof part.text === "string") texts.push(part.text);
  return texts.join(joiner);
}

/** The function calls the model made, in order. */
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

/** Decodes a call's arguments as Python's json.loads would; models write broken JSON, so failure is a value. */
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
