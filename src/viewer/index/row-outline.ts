import { defaultMaxDepth } from "../../base/python/json/door.ts";
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
/** Target size of the conversation of a truncated row, and of its other fields. */
const OUTLINE_BYTES = 6 * 1024 * 1024;
/** The fields that contain the conversation. */
const CONVERSATION: ReadonlySet<string | number | undefined> = new Set([
  "responses_create_params",
  "response",
]);
const LONGEST_VALUE = 64 * 1024;
const SHORTEST_VALUE = 512;
/** A deeper branch is removed as one value. */
const MAX_DEPTH = 64;

/** The JSON of a row with truncated long strings and number arrays, and the positions of the whole values. */
export interface RowOutline {
  text: string;
  elided: Elided[];
}

/** The longest values that are sent whole: texts of the conversation, and all others, including lists of numbers. */
interface Limits {
  said: number;
  rest: number;
}

/**
 * Truncates a row until it is small enough to send: first values of 64 kB, then shorter ones. The texts of the conversation are
 * whole, regardless of the size of the other fields, unless the conversation alone is too large: captures repeat it for every model call.
 */
export function outlineOf(bytes: Buffer): RowOutline {
  const limits: Limits = { said: Number.POSITIVE_INFINITY, rest: LONGEST_VALUE };
  for (;;) {
    const { said, size, ...result } = new Outline(bytes, limits).result();
    if (said > OUTLINE_BYTES && limits.said > SHORTEST_VALUE)
      limits.said = Math.min(LONGEST_VALUE, limits.said / 4);
    else if (size - said > OUTLINE_BYTES && limits.rest > SHORTEST_VALUE) limits.rest /= 4;
    else return result;
  }
}

class Outline {
  readonly #json = new JsonSkimmer();
  readonly #bytes: Buffer;
  readonly #limits: Limits;
  readonly #parts: Buffer[] = [];
  /** Bytes of `parts`. */
  #size = 0;
  /** Bytes of the conversation that are kept. */
  #said = 0;
  readonly #elided: Elided[] = [];
  readonly #path: (string | number)[] = [];
  /** Everything before is in `parts`. */
  #copied = 0;

  constructor(bytes: Buffer, limits: Limits) {
    this.#bytes = bytes;
    this.#limits = { ...limits };
    this.#json.open(bytes, 0, bytes.length);
  }

  result(): RowOutline & { size: number; said: number } {
    this.#value();
    this.#add(this.#bytes.subarray(this.#copied));
    const text = Buffer.concat(this.#parts).toString("utf8");
    return { text, elided: this.#elided, size: this.#size, said: this.#said };
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
  }

  get #isConversation(): boolean {
    return CONVERSATION.has(this.#path[0]);
  }

  #value(): void {
    const json = this.#json;
    const first = json.peek();
    const from = json.at;
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      json.skipValue();
      const { said, rest } = this.#limits;
      if (json.at - from <= Math.min(said, rest)) return;
      const to = json.at;
      if (this.#path.length >= MAX_DEPTH) this.#cut(from, to, "value", Buffer.from("null"));
      else if (first === OPEN_ARRAY && isNumeric(this.#bytes, from))
        this.#cut(from, to, "numbers", this.#numbersPrefix(from, rest));
      else {
        json.at = from;
        this.#members(first === OPEN_OBJECT);
      }
      return;
    }
    json.skipValue();
    const longest = this.#isConversation ? this.#limits.said : this.#limits.rest;
    if (first === QUOTE && json.at - from > longest)
      this.#cut(from, json.at, "string", this.#stringPrefix(from, longest));
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
      const before = this.#written;
      this.#value();
      if (this.#path.length === 1 && this.#isConversation) this.#said += this.#written - before;
      this.#path.pop();
    } while (json.next());
  }

  /** Bytes of the outline up to the current position. */
  get #written(): number {
    return this.#size + this.#json.at - this.#copied;
  }

  #cut(from: number, to: number, kind: Elided["kind"], instead: Buffer): void {
    this.#add(this.#bytes.subarray(this.#copied, from));
    this.#add(instead);
    this.#copied = to;
    this.#elided.push({ path: [...this.#path], from, to, kind });
  }

  /** The beginning of a string, split between two characters. */
  #stringPrefix(from: number, longest: number): Buffer {
    const bytes = this.#bytes;
    let at = from + 1;
    const limit = from + longest / 2;
    while (at < limit) {
      if (bytes[at] === BACKSLASH) at += bytes[at + 1] === 0x75 ? 6 : 2;
      else at++;
    }
    // Not inside a character of several bytes.
    while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
    return Buffer.concat([bytes.subarray(from, at), Buffer.from('"')]);
  }

  #numbersPrefix(from: number, longest: number): Buffer {
    const bytes = this.#bytes;
    let at = from + Math.min(longest / 2, 8192);
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
