import { isObject } from "../../python/json/json-object.ts";

/** Maximum length of an excerpt in the list, in characters. */
const MAX_EXCERPT = 120;
/** Only this many characters of a text are used for an excerpt. */
const LOOKED_AT = 1000;

/** The text of the last item of `role` in an input or output; a function call if there is no text. */
export function lastText(items: unknown, role: "user" | "assistant"): string {
  if (typeof items === "string") return items;
  if (!Array.isArray(items)) return "";
  for (const item of items.toReversed()) {
    if (!isObject(item)) continue;
    if (item["role"] === role) return contentText(item["content"]);
    if (role === "assistant" && item["type"] === "function_call")
      return `${String(item["name"])}(${String(item["arguments"])})`;
  }
  return "";
}

/** The texts of a message's content, joined with spaces. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      if (!isObject(part)) return "";
      const text = part["text"] ?? part["refusal"];
      return typeof text === "string" ? text : "";
    })
    .join(" ");
}

/** The beginning of a text, on one line. */
export function excerptOf(text: string): string {
  const line = text.slice(0, LOOKED_AT).replace(/\s+/g, " ").trim();
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}
