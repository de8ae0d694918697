/** Text that is no Python literal. */
export class LiteralError extends Error {
  override readonly name = "LiteralError";
}

/** A literal this deeply nested, or this long, is no answer. */
const MAX_DEPTH = 50;
const MAX_LENGTH = 100_000;

/**
 * Reads a Python literal: lists and tuples (both as arrays), strings, numbers, True, False, None. That is all of Python's `eval` an answer
 * has a use for. Integers beyond 2^53 lose digits.
 */
export function parseLiteral(text: string): unknown {
  if (text.length > MAX_LENGTH) throw new LiteralError("too long");
  const reader = new LiteralReader(text);
  const value = reader.value(0);
  reader.expectEnd();
  return value;
}

const NUMBER = /[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
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

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new LiteralError("nested too deeply");
    this.#skipSpace();
    const character = this.#text[this.#position];
    if (character === "[") return this.#items("]", depth).items;
    if (character === "(") {
      const { items, comma } = this.#items(")", depth);
      // One value in parentheses is that value, unless a comma follows it.
      return items.length === 1 && !comma ? items[0] : items;
    }
    if (character === "'" || character === '"') return this.#string(character);
    return this.#number() ?? this.#word();
  }

  /** A tuple needs no parentheses at the outermost level, but no answer is written that way. */
  expectEnd(): void {
    this.#skipSpace();
    if (this.#position < this.#text.length) throw new LiteralError("unexpected text");
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#position] ?? "")) this.#position++;
  }

  #items(closing: string, depth: number): { items: unknown[]; comma: boolean } {
    const items: unknown[] = [];
    let comma = false;
    this.#position++;
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

  #number(): number | undefined {
    NUMBER.lastIndex = this.#position;
    const match = NUMBER.exec(this.#text);
    if (match === null) return undefined;
    this.#position = NUMBER.lastIndex;
    return Number(match[0].replaceAll("_", ""));
  }

  #word(): unknown {
    WORD.lastIndex = this.#position;
    const word = WORD.exec(this.#text)?.[0] ?? "";
    if (!Object.hasOwn(WORDS, word)) throw new LiteralError("not a literal");
    this.#position += word.length;
    return WORDS[word];
  }
}
