import { defaultMaxDepth } from "../../python/json/json-loads.ts";
import type { Elided } from "../api-types.ts";
import { JsonSkimmer } from "./json-skimmer.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;

/** Rows up to this size are sent unchanged. */
export const WHOLE_ROW_BYTES = 2 * 1024 * 1024;
/** Target size of a truncated row. */
const OUTLINE_BYTES = 6 * 1024 * 1024;
const LONGEST_VALUE = 64 * 1024;
const SHORTEST_VALUE = 512;
/** A deeper branch is removed as one value. */
const MAX_DEPTH = 64;

/** The JSON of a row with truncated long strings and number arrays, and the positions of the whole values. */
export interface RowOutline {
  text: string;
  elided: Elided[];
}

/** Truncates a row until it is small enough to send: first values of 64 kB, then shorter ones. */
export function outlineOf(bytes: Buffer): RowOutline {
  for (let longest = LONGEST_VALUE; ; longest /= 4) {
    const outline = new Outline(bytes, longest);
    const result = outline.result();
    if (result.text.length <= OUTLINE_BYTES || longest <= SHORTEST_VALUE) return result;
  }
}

class Outline {
  readonly #json = new JsonSkimmer();
  readonly #bytes: Buffer;
  readonly #longest: number;
  readonly #parts: Buffer[] = [];
  readonly #elided: Elided[] = [];
  readonly #path: (string | number)[] = [];
  /** Everything before is in `parts`. */
  #copied = 0;

  constructor(bytes: Buffer, longest: number) {
    this.#bytes = bytes;
    this.#longest = longest;
    this.#json.open(bytes, 0, bytes.length);
  }

  result(): RowOutline {
    this.#value();
    this.#parts.push(this.#bytes.subarray(this.#copied));
    return { text: Buffer.concat(this.#parts).toString("utf8"), elided: this.#elided };
  }

  #value(): void {
    const json = this.#json;
    const first = json.peek();
    const from = json.at;
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      json.skipValue();
      if (json.at - from <= this.#longest) return;
      const to = json.at;
      if (this.#path.length >= MAX_DEPTH) this.#cut(from, to, "value", Buffer.from("null"));
      else if (first === OPEN_ARRAY && isNumeric(this.#bytes, from))
        this.#cut(from, to, "numbers", this.#numbersPrefix(from));
      else {
        json.at = from;
        this.#members(first === OPEN_OBJECT);
      }
      return;
    }
    json.skipValue();
    if (first === QUOTE && json.at - from > this.#longest)
      this.#cut(from, json.at, "string", this.#stringPrefix(from));
  }

  #members(isObject: boolean): void {
    const json = this.#json;
    if (!json.enter()) return;
    let index = 0;
    do {
      if (isObject) {
        json.key();
        this.#path.push(unquoted(this.#bytes.toString("utf8", json.keyStart - 1, json.keyEnd + 1)));
      } else this.#path.push(index++);
      this.#value();
      this.#path.pop();
    } while (json.next());
  }

  #cut(from: number, to: number, kind: Elided["kind"], instead: Buffer): void {
    this.#parts.push(this.#bytes.subarray(this.#copied, from), instead);
    this.#copied = to;
    this.#elided.push({ path: [...this.#path], from, to, kind });
  }

  /** The beginning of a string, split between two characters. */
  #stringPrefix(from: number): Buffer {
    const bytes = this.#bytes;
    let at = from + 1;
    const limit = from + this.#longest / 2;
    while (at < limit) {
      if (bytes[at] === BACKSLASH) at += bytes[at + 1] === 0x75 ? 6 : 2;
      else at++;
    }
    // Not inside a character of several bytes.
    while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
    return Buffer.concat([bytes.subarray(from, at), Buffer.from('"')]);
  }

  #numbersPrefix(from: number): Buffer {
    const bytes = this.#bytes;
    let at = from + Math.min(this.#longest / 2, 8192);
    while (at > from + 1 && bytes[at] !== COMMA) at--;
    return at <= from + 1 ? Buffer.from("[]") : Buffer.concat([bytes.subarray(from, at), Buffer.from("]")]);
  }
}

function isNumeric(bytes: Buffer, from: number): boolean {
  const first = bytes[from + 1] ?? 0;
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}

/**
 * Replaces the branches of a row that are nested too deep for the pages with null. `tooDeep` has the fields of the row
 * that contain them.
 */
export function shallowOf(text: string): { text: string; tooDeep: string[] } {
  const parts: string[] = [];
  const tooDeep = new Set<string>();
  let depth = 0;
  let copied = 0;
  let cutFrom = 0;
  let key = "";
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const from = at;
      at = endOfString(text, from);
      if (depth === 1) key = text.slice(from, at + 1);
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (depth++ === defaultMaxDepth) cutFrom = at;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (--depth !== defaultMaxDepth) continue;
      parts.push(text.slice(copied, cutFrom), "null");
      copied = at + 1;
      tooDeep.add(unquoted(key));
    }
  }
  if (parts.length === 0) return { text, tooDeep: [] };
  return { text: parts.join("") + text.slice(copied), tooDeep: [...tooDeep] };
}

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) !== QUOTE)
    end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}

function unquoted(key: string): string {
  try {
    return JSON.parse(key) as string;
  } catch {
    return key.slice(1, -1);
  }
}
