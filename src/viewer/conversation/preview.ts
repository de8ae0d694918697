import { isObject } from "../../base/python/json/door.ts";
import { type ContentPart, prettyJson } from "./content-parts.ts";
import type { ConversationItem } from "./conversation.ts";
import { plainLine } from "./plain-line.ts";

const MAX_PREVIEW = 200;
/** A call whose arguments and output together are shorter is shown in one line. */
const MAX_LINE = 120;

/** The beginning of an item in one line: its first words, or the arguments and the output of a call. */
export function previewOf(item: ConversationItem): string {
  if (item.kind !== "call") return beginningOf(textOf(item.parts));
  const call = `(${argumentsText(item.parts)})`;
  return item.output === undefined ? cut(call) : cut(`${call} → ${outputText(item.output.parts)}`);
}

/** Whether the preview of a call says everything. */
export function isOneLine(item: ConversationItem): boolean {
  if (item.kind !== "call" || item.output === undefined || item.tokens !== undefined) return false;
  const parts = [...item.parts, ...item.output.parts];
  if (!parts.every(({ type }) => type === "json" || type === "output" || type === "text")) return false;
  const output = textOf(item.output.parts);
  const isMultiline = output.trim().includes("\n") || item.parts.some(hasLines);
  return !isMultiline && argumentsText(item.parts).length + output.length <= MAX_LINE;
}

/** Whether a part holds lines, such as a program; the line ends of formatted JSON do not count. */
function hasLines(part: ContentPart): boolean {
  if (part.type !== "json") return "text" in part && part.text.includes("\n");
  return (
    isObject(part.value) && Object.values(part.value).some((v) => typeof v === "string" && v.includes("\n"))
  );
}

function argumentsText(parts: readonly ContentPart[]): string {
  const [first] = parts;
  if (first?.type !== "json" || !isObject(first.value)) return beginningOf(textOf(parts));
  const named = Object.entries(first.value).map(([name, value]) => `${name}: ${oneLine(prettyJson(value))}`);
  return named.join(", ");
}

const outputText = (parts: readonly ContentPart[]): string => beginningOf(textOf(parts));

function textOf(parts: readonly ContentPart[]): string {
  return parts.map((part) => ("text" in part ? part.text : part.type === "image" ? "(image)" : "")).join(" ");
}

const beginningOf = (text: string): string => cut(plainLine(text));

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

function cut(text: string): string {
  return text.length > MAX_PREVIEW ? `${text.slice(0, MAX_PREVIEW)}…` : text;
}
