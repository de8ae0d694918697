import { DatasetError } from "../errors.ts";

/**
 * The values that a Python file assigns to names, where they are literals: texts, numbers, None, True, False, lists, tuples and
 * dicts. The file is read, never run.
 */
export function readPythonLiterals(source: string, name: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const assignment = /^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)[ \t]*/gm;
  for (let match = assignment.exec(source); match !== null; match = assignment.exec(source)) {
    const reader = new LiteralReader(source, assignment.lastIndex);
    try {
      values[match[1] as string] = reader.value();
      assignment.lastIndex = reader.position;
    } catch (error) {
      if (!(error instanceof NotLiteral)) throw error;
    }
  }
  if (Object.keys(values).length === 0)
    throw new DatasetError("BENCHMARK_SOURCE", `${name} assigns no literal values.`);
  return values;
}

/** `ast.literal_eval`; undefined if the text is not one literal. */
export function readPythonLiteral(text: string): unknown {
  const reader = new LiteralReader(text, 0);
  try {
    const value = reader.value();
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof NotLiteral) return undefined;
    throw error;
  }
}

class NotLiteral extends Error {}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "\n": "",
};
const WORDS: Readonly<Record<string, unknown>> = { None: null, True: true, False: false };

class LiteralReader {
  readonly #text: string;
  position: number;

  constructor(text: string, position: number) {
    this.#text = text;
    this.position = position;
  }

  value(): unknown {
    this.#skip();
    const character = this.#text[this.position];
    if (character === "[") return this.#items("]");
    if (character === "(") {
      const items = this.#items(")");
      return items.length === 1 && this.#text[this.position - 2] !== "," ? items[0] : items;
    }
    if (character === "{") return this.#dict();
    const word = this.#match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*(?!["'\w])/y);
    if (word !== undefined && /^-?\d/.test(word)) return Number(word);
    if (word !== undefined) {
      if (Object.hasOwn(WORDS, word)) return WORDS[word];
      throw new NotLiteral();
    }
    return this.#texts();
  }

  isAtEnd(): boolean {
    this.#skip();
    return this.position === this.#text.length;
  }

  /** Texts that follow each other are one. */
  #texts(): string {
    let joined = "";
    let found = false;
    for (;;) {
      const opening = this.#match(/[rRuUbB]?(?:"""|'''|"|')/y);
      if (opening === undefined) break;
      found = true;
      const isRaw = /^[rR]/.test(opening);
      joined += this.#rest(opening.replace(/^[a-zA-Z]/, ""), isRaw);
      this.#skip();
    }
    if (!found) throw new NotLiteral();
    return joined;
  }

  #rest(quote: string, isRaw: boolean): string {
    let text = "";
    for (;;) {
      if (this.position >= this.#text.length) throw new NotLiteral();
      if (this.#text.startsWith(quote, this.position)) {
        this.position += quote.length;
        return text;
      }
      const character = this.#text[this.position++] as string;
      if (character !== "\\") text += character;
      else if (isRaw) text += character + (this.#text[this.position++] ?? "");
      else text += this.#escape();
    }
  }

  #escape(): string {
    const code = this.#match(/u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}/y);
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    const character = this.#text[this.position++] ?? "";
    return ESCAPES[character] ?? `\\${character}`;
  }

  #items(end: string): unknown[] {
    this.position++;
    const items: unknown[] = [];
    for (;;) {
      this.#skip();
      if (this.#take(end)) return items;
      items.push(this.value());
      this.#skip();
      if (!this.#take(",") && this.#text[this.position] !== end) throw new NotLiteral();
    }
  }

  #dict(): Record<string, unknown> {
    this.position++;
    const entries: [string, unknown][] = [];
    for (;;) {
      this.#skip();
      if (this.#take("}")) return Object.fromEntries(entries);
      const key = this.value();
      this.#skip();
      if (!this.#take(":")) throw new NotLiteral();
      entries.push([String(key), this.value()]);
      this.#skip();
      if (!this.#take(",") && this.#text[this.position] !== "}") throw new NotLiteral();
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.position] !== character) return false;
    this.position++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.position += found.length;
    return found;
  }

  /** Blanks, line breaks and comments. */
  #skip(): void {
    this.#match(/(?:\s|#[^\n]*|\\\n)*/y);
  }
}
