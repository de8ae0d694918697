import { codePointLength } from "../code-points.ts";
import { pyRepr } from "../repr.ts";

/** The error of Python's JSON reader. */
interface Fault {
  message: string;
  position: number;
}

const FLAT_VALUE = /null|true|false|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /^[0-9a-fA-F]{4}$/;
const ESCAPES = '"\\/bfnrt';

/**
 * The `repr` of the exception that Python's `json.loads` raises for a text, in the words of CPython up to 3.12; undefined for
 * a text that it accepts, including NaN and Infinity. Nesting is not limited.
 */
export function jsonDecodeErrorRepr(text: string): string | undefined {
  const fault = new Scanner(text).fault();
  if (!fault) return undefined;
  const { message, position } = fault;
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  const column = codePointLength(before.slice(before.lastIndexOf("\n") + 1)) + 1;
  const where = `line ${line} column ${column} (char ${codePointLength(before)})`;
  return `JSONDecodeError(${pyRepr(`${message}: ${where}`)})`;
}

/** Checks a text without building values. It does not recurse, so nesting may have any depth. */
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

  /** Reads up to the end of the next scalar or empty container. */
  #value(open: ("{" | "[")[]): Fault | undefined {
    for (;;) {
      const start = this.#text[this.#at];
      if (start === '"') return this.#string();
      if (start !== "{" && start !== "[")
        return this.#skip(FLAT_VALUE) ? undefined : this.#fault("Expecting value");
      this.#at++;
      this.#skip(SPACE);
      open.push(start);
      if (this.#text[this.#at] === (start === "{" ? "}" : "]")) {
        open.pop();
        this.#at++;
        return undefined;
      }
      const problem = start === "{" ? this.#key() : undefined;
      if (problem) return problem;
    }
  }

  /** Closes containers that end here, and moves to the next value of the innermost open one. */
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
        // upstream (CPython): four digits at the end of the text are an invalid escape, not an unterminated string
        if (at + 6 >= text.length || !HEX.test(text.slice(at + 2, at + 6)))
          return { message: "Invalid \\uXXXX escape", position: at + 1 };
        at += 6;
      } else if (ESCAPES.includes(letter)) at += 2;
      else return { message: "Invalid \\escape", position: at };
    }
    return { message: "Unterminated string starting at", position: begin };
  }

  /** Skips the text that a pattern matches here. Returns whether it matches. */
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
