import { PyFloat, strip } from "nemo-gym/python";

/** The text is not a Python literal. */
class LiteralError extends Error {
  override readonly name = "LiteralError";
}

/** Limits of the nesting and the length of a literal. */
const MAX_DEPTH = 50;
const MAX_LENGTH = 100_000;

/**
 * Reads a Python literal: lists and tuples (both as arrays), strings, numbers, True, False, None. Answers need no other part of
 * Python's `eval`. Integers beyond 2^53 lose digits.
 */
export function parseLiteral(text: string): unknown {
  if (text.length > MAX_LENGTH) throw new LiteralError("too long");
  return new LiteralReader(strip(text, " \t\f\r\n")).whole();
}

const NUMBER = /[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const LEADING_ZEROS = /^[+-]?0[\d_]*[1-9][\d_]*$/;
const WORD = /[A-Za-z]+/y;
const WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

class LiteralReader {
  readonly #text: string;
  #position = 0;
  #open = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the whole text. A tuple needs no parentheses here: `1, 2`. */
  whole(): unknown {
    const first = this.value(0);
    this.#skipSpace();
    if (this.#atEnd()) return first;
    const items = [first];
    while (this.#text[this.#position] === ",") {
      this.#position++;
      this.#skipSpace();
      if (this.#atEnd()) return items;
      items.push(this.value(0));
      this.#skipSpace();
    }
    if (!this.#atEnd()) throw new LiteralError("unexpected text");
    return items;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new LiteralError("nested too deeply");
    this.#skipSpace();
    const character = this.#text[this.#position];
    if (character === "[") return this.#items("]", depth).items;
    if (character === "(") {
      const { items, comma } = this.#items(")", depth);
      // One value in parentheses is that value; with a trailing comma it is a tuple.
      return items.length === 1 && !comma ? items[0] : items;
    }
    if (character === "'" || character === '"') return this.#string(character);
    return this.#number() ?? this.#word();
  }

  #atEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  /** Line breaks are allowed only inside brackets. */
  #skipSpace(): void {
    const space = this.#open > 0 ? " \t\f\r\n" : " \t\f";
    while (!this.#atEnd() && space.includes(this.#text[this.#position] ?? "")) this.#position++;
  }

  #items(closing: string, depth: number): { items: unknown[]; comma: boolean } {
    const items: unknown[] = [];
    let comma = false;
    this.#position++;
    this.#open++;
    for (;;) {
      this.#skipSpace();
      if (this.#text[this.#position] === closing) break;
      if (items.length > 0 && !comma) throw new LiteralError("expected a comma");
      items.push(this.value(depth + 1));
      this.#skipSpace();
      comma = this.#text[this.#position] === ",";
      if (comma) this.#position++;
      else if (this.#text[this.#position] !== closing) throw new LiteralError("expected a comma or the end");
    }
    this.#position++;
    this.#open--;
    return { items, comma };
  }

  #string(quote: string): string {
    let value = "";
    for (let index = this.#position + 1; index < this.#text.length; index++) {
      const character = this.#text[index] as string;
      if (character === quote) {
        this.#position = index + 1;
        return value;
      }
      if (character === "\n") break;
      if (character === "\\") {
        const next = this.#text[++index] ?? "";
        value += ESCAPES[next] ?? `\\${next}`;
      } else value += character;
    }
    throw new LiteralError("a string is never closed");
  }

  #number(): number | PyFloat | undefined {
    NUMBER.lastIndex = this.#position;
    const match = NUMBER.exec(this.#text);
    if (match === null) return undefined;
    this.#position = NUMBER.lastIndex;
    if (LEADING_ZEROS.test(match[0])) throw new LiteralError("an integer with leading zeros");
    const value = Number(match[0].replaceAll("_", ""));
    return /[.eE]/.test(match[0]) && Number.isInteger(value) ? new PyFloat(value) : value;
  }

  #word(): unknown {
    WORD.lastIndex = this.#position;
    const word = WORD.exec(this.#text)?.[0] ?? "";
    if (!Object.hasOwn(WORDS, word)) throw new LiteralError("not a literal");
    this.#position += word.length;
    return WORDS[word];
  }
}
