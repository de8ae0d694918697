import { strip } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import { textParts } from "../../wire/door.ts";

/** Anything with output items, including unchecked ones such as a judge's reply. */
export interface UncheckedOutput {
  readonly output: readonly unknown[];
}

interface Fields {
  readonly [key: string]: unknown;
}

function isAssistantMessage(item: unknown): item is Fields {
  return isObject(item) && item["type"] === "message" && item["role"] === "assistant";
}

/** All text parts of all assistant messages, joined by newlines and stripped. */
export function allAssistantText(response: UncheckedOutput): string {
  const messages = response.output.filter(isAssistantMessage);
  return strip(messages.flatMap((item) => textParts(item["content"])).join("\n"));
}

/** The text parts of the last assistant message with text, joined by newlines and stripped; "" without one. */
export function lastTextMessage(response: UncheckedOutput): string {
  return lastText(response.output, isAssistantMessage);
}

/** The last part of the last output item if it is a message that ends with a text; else null. */
export function lastPartOfLastMessage(response: UncheckedOutput): string | null {
  const item = response.output.at(-1);
  if (!isObject(item) || item["type"] !== "message" || !Array.isArray(item["content"])) return null;
  const part: unknown = item["content"].at(-1);
  return isObject(part) && typeof part["text"] === "string" ? part["text"] : null;
}

/**
 * The text parts of the last user message with text (images have none) in a request's input, joined by newlines and
 * stripped; "" without one.
 */
export function lastUserText(input: unknown): string {
  if (typeof input === "string") return strip(input);
  return Array.isArray(input) ? lastText(input, (item) => item["role"] === "user") : "";
}

function lastText(items: readonly unknown[], isWanted: (item: Fields) => boolean): string {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    const texts = isObject(item) && isWanted(item) ? textParts(item["content"]) : [];
    if (texts.length > 0) return strip(texts.join("\n"));
  }
  return "";
}

/** Removes every `<tag>…</tag>` pair, each up to the nearest closing tag, in linear time. */
function removePairs(text: string, tag: string): string {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  let result = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return from === 0 ? text : result + text.slice(from);
    result += text.slice(from, start);
    from = end + close.length;
  }
}

function afterFirst(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(at + mark.length);
}

/**
 * Removes the reasoning from a text: `<think>` and `<thinking>` pairs, then everything before an unmatched closing tag.
 * The result is stripped.
 */
export function stripThinking(text: string): string {
  const pairless = removePairs(removePairs(text, "think"), "thinking");
  return strip(afterFirst(afterFirst(pairless, "</think>"), "</thinking>"));
}

/**
 * Less strict than `stripThinking`: only where `</think>` occurs, removes pairs, or else everything up to it. Stripped.
 */
export function stripThinkPairs(text: string): string {
  if (!text.includes("</think>")) return strip(text);
  const pairless = removePairs(text, "think");
  return strip(pairless === text ? afterFirst(text, "</think>") : pairless);
}
