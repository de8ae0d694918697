import { floatRepr } from "../numbers/float-text.ts";
import { dumps } from "./json-dumps.ts";

/** Python rejects longer integers. */
const maxIntegerDigits = 4300;

interface Restyled {
  text: string;
  /** Number of members of all objects. If the parsed value has fewer, a key is repeated. */
  members: number;
}

/**
 * Rewrites a JSON text in the style of Python's `json.dumps` without building the value. Text that already has this style is
 * copied, so a file that Python wrote costs only a scan. The text must be valid JSON. Undefined where the value has to be
 * read and written to get the exact result.
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
    if (replacement !== undefined && replacement !== text.slice(index, next)) {
      result += text.slice(copied, index) + replacement;
      copied = next;
    }
    index = next;
  }
  return { text: copied === 0 ? text : result + text.slice(copied), members };
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

/** The number as Python writes it; undefined where it is not a finite number or Python rejects it. */
function numberText(token: string): string | undefined {
  if (!/[.eE]/.test(token)) {
    if (token.length > maxIntegerDigits) return undefined;
    return token === "-0" ? "0" : token;
  }
  const value = Number(token);
  return Number.isFinite(value) ? floatRepr(value) : undefined;
}
