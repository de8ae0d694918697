import { floatRepr } from "../numbers/float-text.ts";
import { dumps } from "./json-dumps.ts";

/** Python refuses to read longer integers. */
const maxIntegerDigits = 4300;

export interface Restyled {
  text: string;
  /** How many members its objects have together; fewer after reading means that a key was repeated. */
  members: number;
}

/**
 * JSON text rewritten in the style of Python's `json.dumps`, without building the value: what is already in that style is
 * copied, so that a file Python has written goes through at the speed of a scan. The text must be valid JSON. Undefined where
 * only reading and writing gives the exact result.
 */
export function restyle(text: string): Restyled | undefined {
  const end = text.length;
  let result = "";
  let copied = 0;
  let members = 0;
  let index = 0;
  while (index < end) {
    const code = text.charCodeAt(index);
    let next = index + 1;
    let replacement: string | undefined;
    if (code === 0x22) {
      let plain = true;
      for (let unit = text.charCodeAt(next); unit !== 0x22; unit = text.charCodeAt(++next)) {
        if (unit === 0x5c) {
          plain = false;
          next++;
        } else if (unit < 0x20 || unit > 0x7e) plain = false;
      }
      next++;
      if (!plain) replacement = dumps(JSON.parse(text.slice(index, next)));
    } else if (code === 0x2c || code === 0x3a) {
      if (code === 0x3a) members++;
      next = skipSpace(text, next);
      if (next !== index + 2 || text.charCodeAt(index + 1) !== 0x20)
        replacement = code === 0x2c ? ", " : ": ";
    } else if (code <= 0x20) {
      next = skipSpace(text, next);
      replacement = "";
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      next = numberEnd(text, next);
      const token = text.slice(index, next);
      replacement = numberText(token);
      if (replacement === undefined) return undefined;
    }
    if (replacement !== undefined && !stands(replacement, text, index, next)) {
      result += text.slice(copied, index) + replacement;
      copied = next;
    }
    index = next;
  }
  return { text: copied === 0 ? text : result + text.slice(copied), members };
}

/** Whether `text` has exactly `part` from `start` to `end`. */
function stands(part: string, text: string, start: number, end: number): boolean {
  return part.length === end - start && text.startsWith(part, start);
}

function skipSpace(text: string, start: number): number {
  let index = start;
  while (text.charCodeAt(index) <= 0x20) index++;
  return index;
}

function numberEnd(text: string, start: number): number {
  let index = start;
  for (; ; index++) {
    const code = text.charCodeAt(index);
    const inNumber =
      (code >= 0x30 && code <= 0x39) ||
      code === 0x2e ||
      code === 0x2b ||
      code === 0x2d ||
      (code | 0x20) === 0x65;
    if (!inNumber) return index;
  }
}

/** The number as Python writes it back; undefined where it would not come back as a finite number. */
function numberText(token: string): string | undefined {
  if (!/[.eE]/.test(token)) {
    if (token.length > maxIntegerDigits) return undefined;
    return token === "-0" ? "0" : token;
  }
  const value = Number(token);
  return Number.isFinite(value) ? floatRepr(value) : undefined;
}
