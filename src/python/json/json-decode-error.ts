import { pyRepr } from "../repr.ts";

/** Where Python's JSON reader gives up, and in which words. */
interface Fault {
  message: string;
  position: number;
}

const FLAT_VALUE = /null|true|false|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /^[0-9a-fA-F]{4}$/;
const ESCAPES = '"\\/bfnrt';

/**
 * What `repr` of the exception says when Python's `json.loads` refuses a text, as CPython up to 3.12 words it; undefined for a text
 * it accepts, bare NaN and Infinity included. Nesting is not limited.
 */
export function jsonDecodeErrorRepr(text: string): string | undefined {
  const fault = new Scanner(text).fault();
  if (!fault) return undefined;
  const { message, position } = fault;
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  const column = codePoints(before.slice(before.lastIndexOf("\n") + 1)) + 1;
  const where = `line ${line} column ${column} (char ${codePoints(before)})`;
  return `JSONDecodeError(${pyRepr(`${message}: ${where}`)})`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Walks over a text without building values; a stack of its own keeps deep nesting from being an error. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fault(): Fault | undefined {
    if (this.#text.startsWith("\ufeff"))
      return { message: "Unexpected UTF-8 BOM (decode using utf-8-sig)", position: 0 };
    this.#skip(SPACE);
    const open: ("{" | "[")[] = [];
    for (;;) {
      const problem = this.#value(open) ?? this.#afterValue(open);
      if (problem) return problem;
      if (open.length > 0) continue;
      return this.#at < this.#text.length ? this.#fault("Extra data") : undefined;
    }
  }

  /** Reads into the next value that is not a container, or an empty container. */
  #value(open: ("{" | "[")[]): Fault | undefined {
    for (;;) {
      const start = this.#text[this.#at];
      if (start === '"') return this.#string();
      if (start !== "{" && start !== "[")
        return this.#skip(FLAT_VALUE) ? undefined : this.#fault("Expecting value");
      this.#at++;
      this.#skip(SPACE);
      open.push(start);
      // An empty container is closed by what follows the value.
      if (this.#text[this.#at] === (start === "{" ? "}" : "]")) {
        open.pop();
        this.#at++;
        return undefined;
      }
      const problem = start === "{" ? this.#key() : undefined;
      if (problem) return problem;
    }
  }

  /** Closes what ends here and goes on to the next value of what does not; the outermost value leaves nothing open. */
  #afterValue(open: ("{" | "[")[]): Fault | undefined {
    for (;;) {
      this.#skip(SPACE);
      const container = open.at(-1);
      if (container === undefined) return undefined;
      const next = this.#text[this.#at];
      if (next === (container === "{" ? "}" : "]")) {
        open.pop();
        this.#at++;
        continue;
      }
      if (next !== ",") return this.#fault("Expecting ',' delimiter");
      this.#at++;
      this.#skip(SPACE);
      return container === "{" ? this.#key() : undefined;
    }
  }

  #key(): Fault | undefined {
    if (this.#text[this.#at] !== '"') return this.#fault("Expecting property name enclosed in double quotes");
    const problem = this.#string();
    if (problem) return problem;
    this.#skip(SPACE);
    if (this.#text[this.#at] !== ":") return this.#fault("Expecting ':' delimiter");
    this.#at++;
    this.#skip(SPACE);
    return undefined;
  }

  #string(): Fault | undefined {
    const text = this.#text;
    const begin = this.#at;
    for (let at = begin + 1; at < text.length; ) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return undefined;
      }
      if (code < 0x20) return { message: "Invalid control character at", position: at };
      if (code !== 0x5c) {
        at++;
        continue;
      }
      const letter = text[at + 1];
      if (letter === undefined) break;
      if (letter === "u") {
        // The digits must be followed by something: a string that ends with them has lost its quote.
        if (at + 6 >= text.length || !HEX.test(text.slice(at + 2, at + 6)))
          return { message: "Invalid \\uXXXX escape", position: at + 1 };
        at += 6;
      } else if (ESCAPES.includes(letter)) at += 2;
      else return { message: "Invalid \\escape", position: at };
    }
    return { message: "Unterminated string starting at", position: begin };
  }

  /** Whether the pattern matches here; the text it matches is skipped. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return false;
    this.#at += found[0].length;
    return true;
  }

  #fault(message: string): Fault {
    return { message, position: this.#at };
  }
}
