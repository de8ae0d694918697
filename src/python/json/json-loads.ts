import { GymError } from "../../errors.ts";
import { JsonReader } from "./json-reader.ts";

/** As deep as Python's own reader goes before it gives up. */
export const defaultMaxDepth = 1000;

export interface LoadsOptions {
  /** Accept the bare tokens NaN, Infinity and -Infinity, as Python's json module does (default false). */
  allowNonFinite?: boolean;
  /** Deepest nesting of arrays and objects accepted (default 1000). */
  maxDepth?: number;
}

/** Text that is not the JSON it should be; `position` is the 0-based offset in the text. */
export class JsonTextError extends GymError {
  readonly position: number;

  constructor(message: string, position: number, options?: { cause?: unknown }) {
    super("JSON_INVALID", message, options);
    this.position = position;
  }
}

/**
 * Text in which a plain `JSON.parse` and `JSON.stringify` would not give the same numbers and key order back: integral floats,
 * exponents, 16 digits and more, -0, keys that look like whole numbers. Matches inside strings cost only the slower path.
 */
const needsExactReader =
  /(?:^|[\s:,[])-?(?:\d{16}|\d+(?:\.\d+)?[eE]|\d+\.0+(?!\d))|(?:^|[\s:,[])-0(?![.\d])|"(?:0|[1-9]\d*)"\s*:/;

/**
 * Reads JSON so that writing it again (json-dumps.ts) loses nothing: `1.0` stays a float, integers beyond 2^53 come as bigint, keys
 * keep their order. A repeated key's last value wins. Uses `JSON.parse` wherever that is already exact.
 */
export function loads(text: string, options: LoadsOptions = {}): unknown {
  if (needsExactReader.test(text)) return readExactly(text, options);
  return parseOr(text, options);
}

/** Reads JSON into plain values (`1.0` becomes `1`), with the same limits and dialect options as `loads`. */
export function loadsPlain(text: string, options: LoadsOptions = {}): unknown {
  return parseOr(text, options, true);
}

function parseOr(text: string, options: LoadsOptions, plain = false): unknown {
  const maxDepth = options.maxDepth ?? defaultMaxDepth;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Our reader accepts the non-finite tokens where asked, and otherwise fails with a position and a reason.
    return readExactly(text, options, plain);
  }
  // n levels need at least 2n characters.
  if (text.length > 2 * maxDepth && nestingExceeds(text, maxDepth)) throw tooDeep(maxDepth);
  return value;
}

function readExactly(text: string, options: LoadsOptions, plain = false): unknown {
  return new JsonReader(text, {
    allowNonFinite: options.allowNonFinite ?? false,
    maxDepth: options.maxDepth ?? defaultMaxDepth,
    plain,
    fail: (message, position) => {
      throw new JsonTextError(message, position);
    },
  }).read();
}

function tooDeep(maxDepth: number): JsonTextError {
  return new JsonTextError(`nested deeper than ${maxDepth} levels`, 0);
}

/** Whether valid JSON text nests deeper than `limit`. */
function nestingExceeds(text: string, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) index = endOfString(text, index);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** The index of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}
