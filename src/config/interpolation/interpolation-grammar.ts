import { ConfigInterpolationError, type Position, place } from "../errors.ts";
import { MAX_CONFIG_DEPTH, type ScalarValue } from "../node.ts";
import {
  primitiveValue,
  unescapePairs,
  type WordToken,
  wordAt,
  wordText,
} from "../overrides/value-tokens.ts";

/** `${a.b}`, `${.b}`: a path into the config; keys may be interpolations themselves. */
export interface NodeReference {
  kind: "reference";
  /** Leading dots: 0 is absolute, 1 the containing dict, 2 its parent. */
  dots: number;
  keys: (string | Interpolation)[];
}

/** `${oc.env:NAME,default}`: a named function with arguments. */
export interface ResolverCall {
  kind: "call";
  name: (string | Interpolation)[];
  args: Element[];
  /** The whole interpolation as written. */
  text: string;
}

export type Interpolation = NodeReference | ResolverCall;

/** A text with interpolations. A single interpolation keeps the type of its target. */
export type TextParts = (string | Interpolation)[];

export type Element =
  | { kind: "value"; value: ScalarValue }
  | { kind: "text"; parts: TextParts; quoted: boolean }
  | { kind: "list"; items: Element[] }
  | { kind: "dict"; entries: [ScalarValue, Element][] };

/** Escapes the interpolations of a text, so that parsing returns the text itself. */
export function escapeInterpolations(text: string): string {
  return text.replace(/(\\*)\$\{/g, "$1$1\\${");
}

const cache = new Map<string, TextParts>();
const CACHE_LIMIT = 10_000;

/** Parses a config text. Throws ConfigInterpolationError with the column in the text. */
export function parseText(text: string, position?: Position): TextParts {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const parts = new InterpolationParser(text, position).text("");
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(text, parts);
  return parts;
}

/** Parses a text as one typed value, for `oc.decode`. */
export function parseElement(text: string, position?: Position): Element {
  return new InterpolationParser(text, position).single();
}

class InterpolationParser {
  readonly #text: string;
  readonly #position: Position | undefined;
  #at = 0;
  #depth = 0;

  constructor(text: string, position: Position | undefined) {
    this.#text = text;
    this.#position = position;
  }

  single(): Element {
    this.#match(/[ \t]*/y);
    const element = this.#element();
    this.#match(/[ \t]*/y);
    if (this.#at < this.#text.length) throw this.#error("unexpected text after the value");
    return element;
  }

  /** The text up to `quote`, which the caller consumes, or up to the end. */
  text(quote: "" | "'" | '"'): TextParts {
    const parts: TextParts = [];
    let literal = "";
    for (;;) {
      const run = this.#match(/[^\\$'"]+/y)?.[0];
      if (run !== undefined) literal += run;
      if (this.#at >= this.#text.length) break;
      const slashes = this.#match(/\\+/y)?.[0] ?? "";
      const next = this.#text[this.#at];
      if (this.#text.startsWith("${", this.#at)) {
        literal += slashes.slice(0, Math.floor(slashes.length / 2));
        if (slashes.length % 2 === 1) {
          literal += "${";
          this.#at += 2;
          continue;
        }
        if (literal !== "") parts.push(literal);
        literal = "";
        parts.push(this.#interpolation());
      } else if (quote !== "" && next === quote) {
        literal += unescapePairs(slashes.length % 2 === 1 ? slashes + quote : slashes);
        if (slashes.length % 2 === 0) break;
        this.#at++;
      } else if (slashes !== "") literal += slashes;
      else {
        literal += next ?? "";
        this.#at++;
      }
    }
    if (literal !== "" || parts.length === 0) parts.push(literal);
    return parts;
  }

  #interpolation(): Interpolation {
    const start = this.#at;
    if (++this.#depth > MAX_CONFIG_DEPTH) throw this.#error(`nested deeper than ${MAX_CONFIG_DEPTH} levels`);
    this.#match(/\$\{[ \t]*/y);
    const dots = this.#match(/\.*/y)?.[0].length ?? 0;
    const path = [this.#key()];
    for (;;) {
      if (this.#match(/[ \t]*\}/y) !== undefined) {
        this.#depth--;
        return { kind: "reference", dots, keys: path.map(({ key }) => key) };
      }
      if (dots === 0 && path.every(canNameResolver) && this.#match(/[ \t]*:[ \t]*/y) !== undefined) break;
      if (this.#text[this.#at] === ".") this.#at++;
      else if (this.#text[this.#at] !== "[") throw this.#error("expected '.', '[', ':' or '}'");
      path.push(this.#key());
    }
    const args = this.#sequence(/[ \t]*\}/y);
    if (this.#match(/[ \t]*\}/y) === undefined) throw this.#error("expected ',' or '}'");
    this.#depth--;
    return { kind: "call", name: path.map(({ key }) => key), args, text: this.#text.slice(start, this.#at) };
  }

  #key(): PathKey {
    const bracketed = this.#match(/\[/y) !== undefined;
    const key = this.#text.startsWith("${", this.#at)
      ? this.#interpolation()
      : this.#match(/[^\\{}()[\]:. \t'"]+/y)?.[0];
    if (key === undefined) throw this.#error("expected a key");
    if (bracketed && this.#match(/\]/y) === undefined) throw this.#error("expected ']'");
    return { key, bracketed };
  }

  #sequence(end: RegExp): Element[] {
    const elements: Element[] = [];
    if (this.#looksAt(end)) return elements;
    for (;;) {
      // upstream (OmegaConf): nothing between two commas is the empty text
      const empty = this.#looksAt(/[ \t]*,/y) || this.#looksAt(end);
      elements.push(empty ? { kind: "value", value: "" } : this.#element());
      if (this.#match(/[ \t]*,[ \t]*/y) === undefined) return elements;
    }
  }

  #element(): Element {
    if (++this.#depth > MAX_CONFIG_DEPTH) throw this.#error(`nested deeper than ${MAX_CONFIG_DEPTH} levels`);
    const element = this.#anyElement();
    this.#depth--;
    return element;
  }

  #anyElement(): Element {
    const next = this.#text[this.#at];
    if (next === "'" || next === '"') {
      this.#at++;
      const parts = this.text(next);
      if (this.#text[this.#at] !== next) throw this.#error(`expected a closing ${next}`);
      this.#at++;
      return { kind: "text", parts, quoted: true };
    }
    if (next === "[") {
      this.#match(/\[[ \t]*/y);
      const items = this.#sequence(/[ \t]*\]/y);
      if (this.#match(/[ \t]*\]/y) === undefined) throw this.#error("expected ',' or ']'");
      return { kind: "list", items };
    }
    return next === "{" ? this.#dict() : this.#primitive();
  }

  #dict(): Element {
    this.#match(/\{[ \t]*/y);
    const entries: [ScalarValue, Element][] = [];
    if (this.#match(/[ \t]*\}/y) !== undefined) return { kind: "dict", entries };
    do {
      const key = primitiveValue(this.#words(false));
      if (this.#match(/[ \t]*:[ \t]*/y) === undefined) throw this.#error("expected ':' after the key");
      entries.push([key, this.#element()]);
    } while (this.#match(/[ \t]*,[ \t]*/y) !== undefined);
    if (this.#match(/[ \t]*\}/y) === undefined) throw this.#error("expected ',' or '}'");
    return { kind: "dict", entries };
  }

  #primitive(): Element {
    const parts: TextParts = [];
    let words = this.#words(true);
    if (!this.#text.startsWith("${", this.#at)) {
      if (words.length === 0) throw this.#error("expected a value");
      return { kind: "value", value: primitiveValue(words) };
    }
    while (this.#text.startsWith("${", this.#at)) {
      if (words.length > 0) parts.push(words.map(wordText).join(""));
      parts.push(this.#interpolation());
      words = this.#words(true);
    }
    if (words.length > 0) parts.push(words.map(wordText).join(""));
    return { kind: "text", parts, quoted: false };
  }

  #words(inValue: boolean): WordToken[] {
    const tokens: WordToken[] = [];
    while (this.#at < this.#text.length && !this.#text.startsWith("${", this.#at)) {
      if (this.#looksAt(/[ \t]*[,\]}]/y)) break;
      const token = wordAt(this.#text, this.#at);
      if (token === undefined || (token.kind === "colon" && !inValue)) break;
      tokens.push(token);
      this.#at += token.text.length;
    }
    return tokens;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? undefined;
    if (match !== undefined) this.#at += match[0].length;
    return match;
  }

  #looksAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  #error(problem: string): ConfigInterpolationError {
    const message = `Could not read the interpolation in '${this.#text}': ${problem} at position ${this.#at + 1}${place(this.#position)}.`;
    return new ConfigInterpolationError(message, { position: this.#position });
  }
}

interface PathKey {
  key: string | Interpolation;
  bracketed: boolean;
}

function canNameResolver({ key, bracketed }: PathKey): boolean {
  return !bracketed && (typeof key !== "string" || /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(key));
}
