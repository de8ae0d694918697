import { dumps } from "../python/json/json-dumps.ts";
import { loads } from "../python/json/json-loads.ts";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { orderedKeys } from "../python/json/key-order.ts";
import type { RowRef } from "./api-types.ts";
import { type ContentPart, contentParts } from "./content-parts.ts";
import { type ItemTokens, tokensOf } from "./item-tokens.ts";

/** Spaces per level of JSON that is shown. */
const INDENT = 4;

export type EntryKind =
  | "metadata"
  | "sampling"
  | "tools"
  | "user"
  | "system"
  | "assistant"
  | "reasoning"
  | "function_call"
  | "function_call_output"
  | "item";

/** One thing shown of a rollout, in the order of a conversation. */
export interface ChatEntry {
  kind: EntryKind;
  title: string;
  parts: ContentPart[];
  /** Where it stands: a field of the row, or an item of the input or of the model's output. */
  from: "row" | "input" | "output";
  /** What the entry was made of, to be copied. */
  source: unknown;
  tokens: ItemTokens | undefined;
}

/** The name of a row in the list. */
export function sampleLabel(row: RowRef & { response_id: string | null }): string {
  const sample = `${row.source === "failures" ? "Failure" : "Sample"} ${row.line}`;
  return row.response_id === null ? sample : `${sample} - Responses ID ${row.response_id}`;
}

/** A row as a conversation: its fields, how the model was asked, then every item of the input and of the output. */
export function chatOf(row: JsonObject): ChatEntry[] {
  const params = isObject(row["responses_create_params"]) ? row["responses_create_params"] : {};
  const response = isObject(row["response"]) ? row["response"] : {};
  const input =
    typeof params["input"] === "string" ? [{ role: "user", content: params["input"] }] : params["input"];
  return [
    ...metadataEntries(row),
    ...paramsEntries(params),
    ...itemEntries(
      Array.isArray(input) ? input : [],
      Array.isArray(response["output"]) ? response["output"] : [],
    ),
  ];
}

function metadataEntries(row: JsonObject): ChatEntry[] {
  const entries: ChatEntry[] = [];
  for (const name of orderedKeys(row)) {
    const value = row[name];
    if (value === null || value === undefined) continue;
    entries.push(rowEntry("metadata", `Metadata - ${name}`, value));
  }
  return entries;
}

function paramsEntries(params: JsonObject): ChatEntry[] {
  const { input: _input, tools, ...sampling } = params;
  const entries = [rowEntry("sampling", "Sampling params", sampling)];
  if (Array.isArray(tools) && tools.length > 0) entries.push(rowEntry("tools", "Tools", tools));
  return entries;
}

/** Text as it is, anything else as JSON; made when it is looked at, since some fields are megabytes that nobody opens. */
function rowEntry(kind: EntryKind, title: string, source: unknown): ChatEntry {
  return {
    kind,
    title,
    get parts(): ContentPart[] {
      return [
        typeof source === "string"
          ? { type: "text", text: source }
          : { type: "json", text: prettyJson(source) },
      ];
    },
    from: "row",
    source,
    tokens: undefined,
  };
}

/** A user message begins a turn; a function call begins a step of it. */
function itemEntries(input: readonly unknown[], output: readonly unknown[]): ChatEntry[] {
  const entries: ChatEntry[] = [];
  let turn = 0;
  let step = 0;
  for (const [place, item] of [...input, ...output].entries()) {
    if (isObject(item) && item["role"] === "user") {
      turn++;
      step = 0;
    }
    if (isObject(item) && item["type"] === "function_call") step++;
    const shown = entriesOfItem(item);
    for (const [index, { kind, title, parts }] of shown.entries()) {
      entries.push({
        kind,
        title: `Turn ${turn} Step ${step} - ${title}`,
        parts,
        from: place < input.length ? "input" : "output",
        source: item,
        // Tokens belong to the item as a whole; its last entry carries them.
        tokens: index === shown.length - 1 ? tokensOf(item) : undefined,
      });
    }
  }
  return entries;
}

type ItemEntry = Pick<ChatEntry, "kind" | "title" | "parts">;

function entriesOfItem(item: unknown): ItemEntry[] {
  if (!isObject(item)) return [unknownItem(item, "Item")];
  const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
  switch (type) {
    case "message":
      return [messageEntry(item)];
    case "reasoning":
      return reasoningEntries(item);
    case "function_call":
      return [
        {
          kind: "function_call",
          title: `Function call - ${text(item["name"])} (tool call ID ${text(item["call_id"])})`,
          parts: [jsonIfParseable(item["arguments"])],
        },
      ];
    case "function_call_output": {
      const { output } = item;
      return [
        {
          kind: "function_call_output",
          title: `Function call output (tool call ID ${text(item["call_id"])})`,
          parts: Array.isArray(output) ? contentParts(output) : [jsonIfParseable(output)],
        },
      ];
    }
    default:
      return [unknownItem(item, text(type))];
  }
}

const MESSAGE_KINDS: Readonly<Record<string, { kind: EntryKind; title: string }>> = {
  user: { kind: "user", title: "User message" },
  system: { kind: "system", title: "System message" },
  developer: { kind: "system", title: "System message" },
  assistant: { kind: "assistant", title: "Assistant message" },
};

function messageEntry(item: JsonObject): ItemEntry {
  // Models answer as assistants where the item does not say so.
  const role = text(item["role"] ?? "assistant");
  const known = Object.hasOwn(MESSAGE_KINDS, role) ? MESSAGE_KINDS[role] : undefined;
  return {
    ...(known ?? { kind: "item", title: `Message of ${role}` }),
    parts: contentParts(item["content"]),
  };
}

/** One entry for each part of the summary; models that give no summary have their reasoning in the content. */
function reasoningEntries(item: JsonObject): ItemEntry[] {
  const summary = Array.isArray(item["summary"]) ? item["summary"] : [];
  const parts = summary.length > 0 ? summary : Array.isArray(item["content"]) ? item["content"] : [];
  if (parts.length === 0) {
    const note = item["encrypted_content"] ? "(encrypted)" : "(empty)";
    return [{ kind: "reasoning", title: "Reasoning", parts: [{ type: "note", text: note }] }];
  }
  return parts.map((part) => ({ kind: "reasoning", title: "Reasoning", parts: contentParts([part]) }));
}

function unknownItem(item: unknown, title: string): ItemEntry {
  const { parts } = isObject(item) ? { parts: pictureOf(item) } : { parts: [] };
  return { kind: "item", title, parts: [...parts, { type: "json", text: prettyJson(item) }] };
}

/** What a hosted tool drew, or the screen after a computer call. */
function pictureOf(item: JsonObject): ContentPart[] {
  if (item["type"] === "image_generation_call" && typeof item["result"] === "string")
    return contentParts([{ type: "input_image", image_url: `data:image/png;base64,${item["result"]}` }]);
  return isObject(item["output"]) && typeof item["output"]["image_url"] === "string"
    ? contentParts([{ type: "input_image", image_url: item["output"]["image_url"] }])
    : [];
}

/** Text that is JSON is laid out; other text stays as it is. */
function jsonIfParseable(value: unknown): ContentPart {
  if (typeof value !== "string") return { type: "json", text: prettyJson(value ?? null) };
  try {
    return { type: "json", text: prettyJson(loads(value, { allowNonFinite: true })) };
  } catch {
    return { type: "text", text: value };
  }
}

/** JSON for people: indented, letters of all scripts as they are. */
export function prettyJson(value: unknown): string {
  return dumps(value, { indent: INDENT, ensureAscii: false });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
