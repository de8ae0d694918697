import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { textOf } from "./json-values.ts";

/** A part of an item, as displayed. */
export type ContentPart =
  | { type: "text"; text: string }
  /** Output of a tool: monospaced, with colours or a diff. */
  | { type: "output"; text: string }
  /** Reasoning inside a message. */
  | { type: "thought"; text: string }
  | { type: "json"; value: unknown; text: string }
  | { type: "refusal"; text: string }
  /** A note of the viewer, not part of the conversation. */
  | { type: "note"; text: string }
  /** `url` contains the image data; external images are shown as links and never loaded. */
  | { type: "image"; url: string }
  | { type: "link"; url: string; label: string };

/** Image types that browsers display; other data is not passed to the browser. */
const PICTURE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)[;,]/i;
const WEB_ADDRESS = /^https?:\/\//i;
const MAX_SHOWN_URL = 200;
/** A tag at the start of a line; a tag inside code or a sentence is part of the text. */
const OPENING = /^[ \t]*<think(?:ing)?>/im;
const CLOSING = /(?<!`)<\/think(?:ing)?>(?!`)/i;

/** The parts of a message's content, which is text or a list of parts. */
export function contentParts(content: unknown): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) return [jsonPart(content)];
  return content.map((part: unknown) => (isObject(part) ? partOf(part) : textOrJson(part)));
}

function partOf(part: JsonObject): ContentPart {
  if (typeof part["text"] === "string") return { type: "text", text: part["text"] };
  switch (part["type"]) {
    case "refusal":
      return { type: "refusal", text: String(part["refusal"]) };
    case "input_image":
    case "image_url":
    case "computer_screenshot":
      return picture(addressOf(part["image_url"]), textOf(part["file_id"]));
    case "input_file":
      return linked("file", addressOf(part["file_url"]), textOf(part["filename"] ?? part["file_id"]));
    case "input_video":
      return linked("video", addressOf(part["video_url"] ?? part["video"]), undefined);
    case "input_audio":
      return { type: "note", text: "(audio)" };
    default:
      return jsonPart(part);
  }
}

function picture(url: string | undefined, fileId: string | undefined): ContentPart {
  return url !== undefined && PICTURE.test(url) ? { type: "image", url } : linked("image", url, fileId);
}

/** A link for a web address; other addresses are shown as text. */
function linked(kind: string, url: string | undefined, name: string | undefined): ContentPart {
  if (url !== undefined && WEB_ADDRESS.test(url)) return { type: "link", url, label: `${kind}: ${url}` };
  return {
    type: "note",
    text: `(${kind}${[name, shortened(url)].map((word) => (word ? ` ${word}` : "")).join("")})`,
  };
}

function addressOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : isObject(value) ? textOf(value["url"]) : undefined;
}

function shortened(url: string | undefined): string | undefined {
  return url !== undefined && url.length > MAX_SHOWN_URL ? `${url.slice(0, MAX_SHOWN_URL)}…` : url;
}

function textOrJson(value: unknown): ContentPart {
  return typeof value === "string" ? { type: "text", text: value } : jsonPart(value);
}

export function jsonPart(value: unknown): ContentPart {
  return { type: "json", value, text: prettyJson(value) };
}

/** Readable JSON: indented, with non-ASCII letters unescaped. */
export function prettyJson(value: unknown): string {
  return dumps(value, { indent: 2, ensureAscii: false });
}

/**
 * Splits `<think>…</think>` off the text of a message. Chat templates may open the tag, so a text that only closes it
 * begins with reasoning. Reasoning without a closing tag was truncated.
 */
export function splitThoughts(part: ContentPart): ContentPart[] {
  if (part.type !== "text") return [part];
  const parts: ContentPart[] = [];
  let rest = part.text;
  const push = (type: "text" | "thought", text: string) => {
    if (text.trim() !== "") parts.push({ type, text: text.trim() });
  };
  for (;;) {
    const opening = OPENING.exec(rest);
    const closing = CLOSING.exec(rest);
    if (closing !== null && (opening === null || closing.index < opening.index)) {
      // Only the first tag can have been opened by the template, and then the text does not open it.
      if (rest !== part.text || /<think/i.test(rest.slice(0, closing.index))) break;
      push("thought", rest.slice(0, closing.index));
      rest = rest.slice(closing.index + closing[0].length);
      continue;
    }
    if (opening === null) break;
    push("text", rest.slice(0, opening.index));
    const inside = rest.slice(opening.index + opening[0].length);
    const end = CLOSING.exec(inside);
    push("thought", end === null ? inside : inside.slice(0, end.index));
    rest = end === null ? "" : inside.slice(end.index + end[0].length);
  }
  // A text without tags keeps its whitespace.
  if (rest === part.text) return [part];
  push("text", rest);
  return parts;
}
