import { GymError } from "../../errors.ts";
import { PyFloat } from "../numbers/py-float.ts";
import { setMember } from "./json-object.ts";
import { noteKeyOrder } from "./key-order.ts";

/** The limit of Python's reader. */
export const defaultMaxDepth = 1000;
/** Python rejects longer integers too, because converting them takes quadratic time. */
const MAX_INTEGER_DIGITS = 4300;

export interface LoadsOptions {
  /** Accept the bare tokens NaN, Infinity and -Infinity, as Python's json module does (default false). */
  allowNonFinite?: boolean;
  /** Maximum nesting of arrays and objects (default 1000). */
  maxDepth?: number;
}

/** A text is not valid JSON. `position` is the 0-based offset in the text. */
export class JsonTextError extends GymError {
  readonly position: number;

  constructor(message: string, position: number, options?: { cause?: unknown }) {
    super("JSON_INVALID", message, options);
    this.position = position;
  }
}

/**
 * Matches a text that `JSON.parse` and `JSON.stringify` would change: floats with integral values, exponents, 16 digits or
 * more, -0, and keys that look like whole numbers. A match inside a string only causes the slower path.
 */
const needsExactReader =
  /(?:^|[\s:,[])-?(?:\d{16}|\d+(?:\.\d+)?[eE]|\d+\.0+(?!\d))|(?:^|[\s:,[])-0(?![.\d])|"(?:0|[1-9]\d*)"\s*:/;

/**
 * Reads JSON without loss, so that json-dumps.ts can write it again: `1.0` stays a float, integers beyond 2^53 become bigints,
 * and keys keep their order. The last value of a repeated key wins. Uses `JSON.parse` where that is exact.
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
    // Our reader accepts NaN and infinities if allowed, and otherwise throws an error with a position and a reason.
    return readExactly(text, options, plain);
  }
  // n levels need at least 2n characters.
  if (text.length > 2 * maxDepth && nestingExceeds(text, maxDepth))
    throw new JsonTextError(`nested deeper than ${maxDepth} levels`, 0);
  return value;
}

function readExactly(text: string, options: LoadsOptions, plain = false): unknown {
  return new JsonReader(text, options, plain).read();
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

const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const numberFollows = /[\d.eE+-]/;
const escapes: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** A recursive-descent JSON reader that preserves the spelling of numbers and the order of keys. */
class JsonReader {
  private readonly text: string;
  private readonly allowNonFinite: boolean;
  private readonly maxDepth: number;
  /** Whether to return plain JavaScript numbers instead of PyFloat and bigint. */
  private readonly plain: boolean;
  private position = 0;
  private depth = 0;

  constructor(
    text: string,
    { allowNonFinite = false, maxDepth = defaultMaxDepth }: LoadsOptions,
    plain: boolean,
  ) {
    this.text = text;
    this.allowNonFinite = allowNonFinite;
    this.maxDepth = maxDepth;
    this.plain = plain;
  }

  read(): unknown {
    const value = this.value();
    this.skipSpace();
    if (this.position < this.text.length) this.fail("unexpected text after the value");
    return value;
  }

  private fail(what: string): never {
    throw new JsonTextError(`${what} at character ${this.position + 1}`, this.position);
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position++;
    }
  }

  private value(): unknown {
    this.skipSpace();
    switch (this.text[this.position]) {
      case "{":
        return this.nested(() => this.object());
      case "[":
        return this.nested(() => this.array());
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      case "N":
        return this.nonFinite("NaN", Number.NaN);
      case "I":
        return this.nonFinite("Infinity", Number.POSITIVE_INFINITY);
      case undefined:
        return this.fail("unexpected end of text");
      default:
        return this.number();
    }
  }

  private nested(read: () => unknown): unknown {
    if (++this.depth > this.maxDepth) this.fail(`nested deeper than ${this.maxDepth} levels`);
    const value = read();
    this.depth--;
    return value;
  }

  private word(word: string, value: unknown): unknown {
    if (!this.text.startsWith(word, this.position)) this.fail("unexpected text");
    this.position += word.length;
    return value;
  }

  private nonFinite(word: string, value: number): unknown {
    if (!this.allowNonFinite) this.fail(`${word} is not JSON`);
    return this.word(word, value);
  }

  private object(): unknown {
    const result: Record<string, unknown> = {};
    const keys: string[] = [];
    this.position++;
    this.skipSpace();
    if (this.text[this.position] === "}") {
      this.position++;
      return result;
    }
    for (;;) {
      this.skipSpace();
      if (this.text[this.position] !== '"') this.fail("expected a key in double quotes");
      const key = this.string();
      this.skipSpace();
      if (this.text[this.position] !== ":") this.fail("expected ':'");
      this.position++;
      const value = this.value();
      if (!Object.hasOwn(result, key)) keys.push(key);
      setMember(result, key, value);
      this.skipSpace();
      const next = this.text[this.position];
      if (next !== "," && next !== "}") this.fail("expected ',' or '}'");
      this.position++;
      if (next === "}") break;
    }
    if (!this.plain) noteKeyOrder(result, keys);
    return result;
  }

  private array(): unknown[] {
    const result: unknown[] = [];
    this.position++;
    this.skipSpace();
    if (this.text[this.position] === "]") {
      this.position++;
      return result;
    }
    for (;;) {
      result.push(this.value());
      this.skipSpace();
      const next = this.text[this.position];
      if (next !== "," && next !== "]") this.fail("expected ',' or ']'");
      this.position++;
      if (next === "]") return result;
    }
  }

  private string(): string {
    let start = this.position + 1;
    let result = "";
    for (let index = start; ; index++) {
      const code = this.text.charCodeAt(index);
      if (code === 0x22) {
        this.position = index + 1;
        return result + this.text.slice(start, index);
      }
      if (code === 0x5c) {
        result += this.text.slice(start, index);
        this.position = index;
        result += this.escape();
        start = this.position;
        index = start - 1;
      } else if (code < 0x20 || Number.isNaN(code)) {
        this.position = index;
        this.fail(Number.isNaN(code) ? "string without its closing quote" : "control character in a string");
      }
    }
  }

  /** Reads the escape whose backslash is at the current position. */
  private escape(): string {
    const letter = this.text[this.position + 1] ?? "";
    const simple = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (simple !== undefined) {
      this.position += 2;
      return simple;
    }
    const hex = this.text.slice(this.position + 2, this.position + 6);
    if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(hex)) this.fail("unknown escape");
    this.position += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  private number(): unknown {
    numberPattern.lastIndex = this.position;
    const match = numberPattern.exec(this.text);
    if (match === null) {
      if (this.text.startsWith("-Infinity", this.position))
        return this.nonFinite("-Infinity", Number.NEGATIVE_INFINITY);
      return this.fail("unexpected text");
    }
    const [token, fraction, exponent] = match;
    if (numberFollows.test(this.text[this.position + token.length] ?? "")) this.fail("malformed number");
    const value = fraction === undefined && exponent === undefined ? this.integer(token) : this.float(token);
    this.position += token.length;
    return value;
  }

  private integer(token: string): unknown {
    if (token.length > MAX_INTEGER_DIGITS) this.fail(`integer of more than ${MAX_INTEGER_DIGITS} digits`);
    const value = Number(token);
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    return this.plain ? value : BigInt(token);
  }

  private float(token: string): unknown {
    const value = Number(token);
    if (!Number.isFinite(value) && !this.allowNonFinite) this.fail("number beyond the range of a double");
    return Number.isInteger(value) && !this.plain ? new PyFloat(value) : value;
  }
}
