import { isObject, type JsonObject, loads } from "../../base/python/json/door.ts";
import { type ContentPart, contentParts, jsonPart, splitThoughts } from "./content-parts.ts";
import { editOf } from "./edits.ts";
import { objectOf, textOf } from "./json-values.ts";
import { type ItemTokens, tokensOf } from "./tokens.ts";

export const ITEM_KINDS = ["system", "user", "reasoning", "call", "assistant", "item"] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** One item of the conversation, in order. A call includes its output. */
export interface ConversationItem {
  /** Index among the items of input and output; used in addresses. */
  place: number;
  kind: ItemKind;
  /** The role, or the name of the called tool. */
  title: string;
  parts: ContentPart[];
  /** The output of a call, if any. */
  output:
    | { place: number; parts: ContentPart[]; source: unknown; path: readonly (string | number)[] }
    | undefined;
  callId: string | undefined;
  from: "input" | "output";
  /** The model turn of the item, from 1; 0 before the first turn. */
  turn: number;
  source: unknown;
  /** Path of `source` in the row. */
  path: readonly (string | number)[];
  tokens: ItemTokens | undefined;
}

/** The items of a row, with calls and outputs paired by id. */
export function conversationOf(row: JsonObject): ConversationItem[] {
  const params = objectOf(row["responses_create_params"]);
  const response = objectOf(row["response"]);
  const given = params["input"];
  const input =
    typeof given === "string" ? [{ role: "user", content: given }] : Array.isArray(given) ? given : [];
  const output = Array.isArray(response["output"]) ? response["output"] : [];
  const items: ConversationItem[] = [];
  if (typeof params["instructions"] === "string" && params["instructions"] !== "")
    items.push({
      ...itemFor(-1, "input", { role: "system", content: params["instructions"] }, 0),
      path: ["responses_create_params", "instructions"],
    });
  const calls = new Map<string, ConversationItem>();
  let turn = 0;
  let modelSpeaks = false;
  for (const [place, source] of [...input, ...output].entries()) {
    const from = place < input.length ? "input" : "output";
    const isModel = from === "output" && isModelItem(source);
    if (isModel && !modelSpeaks) turn++;
    modelSpeaks = isModel;
    const callId = isObject(source) ? textOf(source["call_id"]) : undefined;
    const path =
      from === "input"
        ? ["responses_create_params", "input", place]
        : ["response", "output", place - input.length];
    if (isObject(source) && isOutput(source) && callId !== undefined) {
      const call = calls.get(callId);
      if (call && call.output === undefined) {
        call.output = { place, parts: outputParts(source), source, path };
        continue;
      }
    }
    const item: ConversationItem = { ...itemFor(place, from, source, turn), path };
    if (item.kind === "call" && callId !== undefined) calls.set(callId, item);
    items.push(item);
  }
  return items;
}

function isModelItem(item: unknown): boolean {
  return isObject(item) && !isOutput(item) && (item["role"] ?? "assistant") === "assistant";
}

function isOutput(item: JsonObject): boolean {
  return typeof item["type"] === "string" && item["type"].endsWith("_call_output");
}

function itemFor(
  place: number,
  from: "input" | "output",
  source: unknown,
  turn: number,
): Omit<ConversationItem, "path"> {
  return {
    place,
    from,
    turn,
    source,
    output: undefined,
    callId: isObject(source) ? textOf(source["call_id"]) : undefined,
    tokens: tokensOf(source),
    ...shownItem(source),
  };
}

function shownItem(item: unknown): Pick<ConversationItem, "kind" | "title" | "parts"> {
  if (!isObject(item)) return { kind: "item", title: "Item", parts: [jsonPart(item)] };
  const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
  switch (type) {
    case "message":
      return message(item);
    case "reasoning":
      return { kind: "reasoning", title: "Reasoning", parts: reasoningParts(item) };
    case "function_call":
      return { kind: "call", title: nameOf(item["name"]), parts: argumentParts(item["arguments"]) };
    case "function_call_output":
      return { kind: "call", title: "Output without a call", parts: outputParts(item) };
    default:
      return { kind: "item", title: nameOf(type), parts: [...pictureOf(item), jsonPart(item)] };
  }
}

const ROLES: Readonly<Record<string, { kind: ItemKind; title: string }>> = {
  user: { kind: "user", title: "User" },
  system: { kind: "system", title: "System" },
  developer: { kind: "system", title: "Developer" },
  assistant: { kind: "assistant", title: "Assistant" },
};

function message(item: JsonObject): Pick<ConversationItem, "kind" | "title" | "parts"> {
  // Without a role, the item is an assistant message.
  const role = nameOf(item["role"] ?? "assistant");
  const known = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  const parts = contentParts(item["content"]);
  return {
    ...(known ?? { kind: "item", title: role }),
    parts: known?.kind === "assistant" ? parts.flatMap(splitThoughts) : parts,
  };
}

/** The parts of the summary; models without a summary have their reasoning in the content. */
function reasoningParts(item: JsonObject): ContentPart[] {
  const summary = Array.isArray(item["summary"]) ? item["summary"] : [];
  const parts = summary.length > 0 ? summary : Array.isArray(item["content"]) ? item["content"] : [];
  if (parts.length > 0) return contentParts(parts);
  return [{ type: "note", text: item["encrypted_content"] ? "(encrypted)" : "(empty)" }];
}

/** The image that a hosted tool created, or the screen after a computer call. */
function pictureOf(item: JsonObject): ContentPart[] {
  if (item["type"] === "image_generation_call" && typeof item["result"] === "string")
    return contentParts([{ type: "input_image", image_url: `data:image/png;base64,${item["result"]}` }]);
  return isObject(item["output"]) && typeof item["output"]["image_url"] === "string"
    ? contentParts([{ type: "input_image", image_url: item["output"]["image_url"] }])
    : [];
}

function outputParts(item: JsonObject): ContentPart[] {
  const { output } = item;
  if (Array.isArray(output)) return contentParts(output);
  return isObject(output) ? [...pictureOf(item), jsonPart(output)] : [jsonIfParseable(output)];
}

/** The arguments of a call; the replacement of a text is shown as a patch. */
function argumentParts(value: unknown): ContentPart[] {
  const part = jsonIfParseable(value);
  const edit = part.type === "json" ? editOf(part.value) : undefined;
  return edit === undefined ? [part] : [jsonPart(edit.others), { type: "output", text: edit.patch }];
}

/** Text that is JSON becomes a tree; other text is unchanged. */
function jsonIfParseable(value: unknown): ContentPart {
  if (typeof value !== "string") return jsonPart(value ?? null);
  if (!/^\s*[[{]/.test(value)) return { type: "output", text: value };
  try {
    return { type: "json", value: loads(value, { allowNonFinite: true }), text: value };
  } catch {
    return { type: "output", text: value };
  }
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
