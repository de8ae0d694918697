import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import type { ChatMessage, ChatUserPart } from "../schemas/chat-types.ts";
import { wordOf } from "../schemas/readers.ts";
import { parseData } from "../stream/sse.ts";
import { badValue } from "./conversion-loss.ts";

const AUDIO_KEYS = ["audio_data", "audio_path", "audio_paths"] as const;

/** The recordings of a row. */
export interface AudioOfRow {
  /** Data URIs as they are, and paths that the server resolves. */
  sources: ({ kind: "data"; url: string } | { kind: "path"; path: string })[];
  /** The metadata without the audio keys; undefined when nothing else was in it. */
  metadata: JsonObject | undefined;
}

/** Takes the recordings out of a row's metadata, where at most one of the three audio keys may be set. */
export function takeAudio(metadata: JsonObject | null | undefined): AudioOfRow {
  const given = AUDIO_KEYS.filter((key) => metadata?.[key]);
  const [key] = given;
  if (!isObject(metadata) || key === undefined) return { sources: [], metadata: metadata ?? undefined };
  if (given.length > 1) badValue(`metadata sets ${given.join(" and ")}; set one of them`);
  const { [key]: value, ...rest } = metadata;
  return { sources: sourcesOf(key, value), metadata: Object.keys(rest).length > 0 ? rest : undefined };
}

function sourcesOf(key: (typeof AUDIO_KEYS)[number], value: unknown): AudioOfRow["sources"] {
  if (key === "audio_paths") {
    // Metadata values are strings on the wire, so a list may come as JSON text.
    const paths = typeof value === "string" ? parseData(value) : value;
    if (!Array.isArray(paths)) badValue("metadata.audio_paths must be a list of paths");
    return paths.map((path) => ({ kind: "path", path: wordOf(path) }));
  }
  if (typeof value !== "string") badValue(`metadata.${key} must be text`);
  return [key === "audio_data" ? { kind: "data", url: value } : { kind: "path", path: value }];
}

/** Puts recordings before the text of the last user message, or into a new one where there is none. */
export function insertAudio(messages: readonly ChatMessage[], urls: readonly string[]): ChatMessage[] {
  if (urls.length === 0) return [...messages];
  const parts = urls.map((url): ChatUserPart => ({ type: "audio_url", audio_url: { url } }));
  const index = messages.findLastIndex((message) => message.role === "user");
  const message = messages[index];
  if (message?.role !== "user") return [...messages, { role: "user", content: parts }];
  const { content } = message;
  const rest: ChatUserPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  return messages.with(index, { ...message, content: [...parts, ...rest] });
}
