import { PyFloat } from "../numbers/py-float.ts";
import { noteKeyOrder } from "./key-order.ts";

/** Python refuses longer integers too; converting them takes quadratic time. */
const MAX_INTEGER_DIGITS = 4300;

export interface JsonReaderOptions {
  allowNonFinite: boolean;
  maxDepth: number;
  /** Give plain JavaScript numbers instead of PyFloat and bigint. */
  plain: boolean;
  fail: (message: string, position: number) => never;
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

/** A recursive-descent JSON reader that keeps what JavaScript numbers and objects lose; see json-loads.ts for the entry point. */
export class JsonReader {
  private readonly text: string;
  private readonly options: JsonReaderOptions;
  private position = 0;
  private depth = 0;

  constructor(text: string, options: JsonReaderOptions) {
    this.text = text;
    this.options = options;
  }

  read(): unknown {
    const value = this.value();
    this.skipSpace();
    if (this.position < this.text.length) this.fail("unexpected text after the value");
    return value;
  }

  private fail(what: string): never {
    return this.options.fail(`${what} at character ${this.position + 1}`, this.position);
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
    if (++this.depth > this.options.maxDepth) this.fail(`nested deeper than ${this.options.maxDepth} levels`);
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
    if (!this.options.allowNonFinite) this.fail(`${word} is not JSON`);
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
      // An assignment to this one name would change the object's prototype.
      if (key === "__proto__") {
        Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
      } else result[key] = value;
      this.skipSpace();
      const next = this.text[this.position];
      if (next !== "," && next !== "}") this.fail("expected ',' or '}'");
      this.position++;
      if (next === "}") break;
    }
    if (!this.options.plain) noteKeyOrder(result, keys);
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
      if (this.text.startsWith("-Infinity", this.position)) return this.negativeInfinity();
      return this.fail("unexpected text");
    }
    const [token, fraction, exponent] = match;
    if (numberFollows.test(this.text[this.position + token.length] ?? "")) this.fail("malformed number");
    const value = fraction === undefined && exponent === undefined ? this.integer(token) : this.float(token);
    this.position += token.length;
    return value;
  }

  private negativeInfinity(): unknown {
    if (!this.options.allowNonFinite) this.fail("-Infinity is not JSON");
    return this.word("-Infinity", Number.NEGATIVE_INFINITY);
  }

  private integer(token: string): unknown {
    if (token.length > MAX_INTEGER_DIGITS) this.fail(`integer of more than ${MAX_INTEGER_DIGITS} digits`);
    const value = Number(token);
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    return this.options.plain ? value : BigInt(token);
  }

  private float(token: string): unknown {
    const value = Number(token);
    if (!Number.isFinite(value) && !this.options.allowNonFinite)
      this.fail("number beyond the range of a double");
    return Number.isInteger(value) && !this.options.plain ? new PyFloat(value) : value;
  }
}
