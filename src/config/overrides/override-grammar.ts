import { maskWord } from "../../base/secrets.ts";
import { OverrideError } from "../errors.ts";
import {
  type ConfigNode,
  type DictKey,
  dict,
  listNode,
  MAX_CONFIG_DEPTH,
  type Origin,
  type Source,
  scalar,
  setEntry,
} from "../node.ts";
import { CASTS, castValue, SWEEPS } from "./override-functions.ts";
import { primitiveValue, unescapePairs, type WordToken, wordAt } from "./value-tokens.ts";

export type OverrideOperation = "+" | "++" | "" | "~";

/** A parsed override. */
export interface ParsedOverride {
  operation: OverrideOperation;
  /** The dotted key as typed. */
  key: string;
  /** Absent for `~key`. */
  value: ConfigNode | undefined;
  /** The word as typed, for messages; the value of a secret key is hidden. */
  text: string;
}

const SEGMENT = "(?:[a-zA-Z_$][a-zA-Z0-9_$-]*|0|[1-9](?:_?[0-9])*)";
const KEY = new RegExp(
  `(?:[a-zA-Z_][a-zA-Z0-9_-]*(?:/[a-zA-Z_][a-zA-Z0-9_-]*)+|${SEGMENT}(?:\\.${SEGMENT})*)`,
  "y",
);
const QUOTED = { "'": /'((?:[^'\\]|\\[\s\S])*)'/y, '"': /"((?:[^"\\]|\\[\s\S])*)"/y };
const INTERPOLATION = /\$\{[^}]+\}/y;
const FUNCTION = /([a-zA-Z_][a-zA-Z0-9_-]*)[ \t]*\([ \t]*/y;

/** Reads one override: `+key=value`, `++key=value`, `key=value`, `~key`, `~key=value`. */
export function parseOverride(text: string): ParsedOverride {
  return new OverrideParser(text).parse();
}

class OverrideParser {
  readonly #text: string;
  readonly #source: Source;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#source = { kind: "command line", name: text };
  }

  parse(): ParsedOverride {
    const operation = (this.#match(/\+\+?|~/y)?.[0] ?? "") as OverrideOperation;
    const key = this.#match(KEY)?.[0];
    if (key === undefined) throw this.#error("expected a key");
    if (/^\d+$/.test(key)) throw this.#error("a key cannot be a number", 0);
    this.#source.name = `${operation}${key}`;
    if (this.#peek() === "@")
      throw this.#error("'key@package' selects a config group, and there are none here");
    if (this.#at === this.#text.length && operation === "~")
      return { operation, key, value: undefined, text: this.#text };
    if (this.#match(/=[ \t]*/y) === undefined) throw this.#error("expected '='");
    return { operation, key, value: this.#value(), text: maskWord(this.#text) };
  }

  #value(): ConfigNode {
    if (this.#at === this.#text.length) return scalar("", this.#origin());
    const value = this.#element(0);
    if (this.#match(/[ \t]*,[ \t]*/y) !== undefined) {
      do this.#element(0);
      while (this.#match(/[ \t]*,[ \t]*/y) !== undefined);
      this.#expectEnd();
      throw new OverrideError(
        `Ambiguous value for argument '${maskWord(this.#text)}'. For a list, use [a,b]. Put text with a comma in quotes.`,
        { position: this.#position() },
      );
    }
    this.#expectEnd();
    return value;
  }

  #element(depth: number): ConfigNode {
    if (depth > MAX_CONFIG_DEPTH) throw this.#error(`nested deeper than ${MAX_CONFIG_DEPTH} levels`);
    const next = this.#peek();
    if (next === "[") return this.#list(depth);
    if (next === "{") return this.#dict(depth);
    if (next === "'" || next === '"') return this.#quoted(next);
    const call = this.#match(FUNCTION);
    if (call?.[1] !== undefined) return this.#function(call[1], depth);
    return this.#primitive();
  }

  #list(depth: number): ConfigNode {
    const origin = this.#origin();
    this.#match(/\[[ \t]*/y);
    const items: ConfigNode[] = [];
    if (this.#match(/[ \t]*\]/y) !== undefined) return listNode(origin);
    do items.push(this.#element(depth + 1));
    while (this.#match(/[ \t]*,[ \t]*/y) !== undefined);
    if (this.#match(/[ \t]*\]/y) === undefined) throw this.#error("expected ',' or ']'");
    return listNode(origin, items);
  }

  #dict(depth: number): ConfigNode {
    const result = dict(this.#origin());
    this.#match(/\{[ \t]*/y);
    if (this.#match(/[ \t]*\}/y) !== undefined) return result;
    do {
      const key = this.#dictKey();
      if (this.#match(/[ \t]*:[ \t]*/y) === undefined) throw this.#error("expected ':' after the key");
      setEntry(result.entries, key, this.#element(depth + 1));
    } while (this.#match(/[ \t]*,[ \t]*/y) !== undefined);
    if (this.#match(/[ \t]*\}/y) === undefined) throw this.#error("expected ',' or '}'");
    return result;
  }

  #dictKey(): DictKey {
    const tokens = trimBlanks(this.#words(false));
    if (tokens.length === 0) throw this.#error("expected a key");
    const value = primitiveValue(tokens);
    if (value === null) throw this.#error("null cannot be a key");
    return typeof value === "object" || typeof value === "bigint" ? Number(value) : value;
  }

  #quoted(quote: "'" | '"'): ConfigNode {
    const origin = this.#origin();
    const body = this.#match(QUOTED[quote])?.[1];
    if (body === undefined) throw this.#error(`expected a closing ${quote}`);
    return scalar(unescapeQuoted(body, quote), origin);
  }

  #primitive(): ConfigNode {
    const origin = this.#origin();
    const words = this.#words(true);
    const tokens = trimBlanks(words);
    if (tokens.length === 0)
      throw this.#error(words.length > 0 ? "expected a value, found only blanks" : "expected a value");
    return scalar(primitiveValue(tokens), origin);
  }

  /** Words up to the next punctuation. Mapping keys have no colons and interpolations. */
  #words(inValue: boolean): WordToken[] {
    const tokens: WordToken[] = [];
    while (this.#at < this.#text.length) {
      const interpolation = inValue ? this.#match(INTERPOLATION)?.[0] : undefined;
      if (interpolation !== undefined) {
        tokens.push({ kind: "word", text: interpolation });
        continue;
      }
      // Blanks before punctuation are not part of the value.
      if (this.#sees(/[ \t]+[,\])}(=]/y)) break;
      const token = wordAt(this.#text, this.#at);
      if (token === undefined || (token.kind === "colon" && !inValue)) break;
      tokens.push(token);
      this.#at += token.text.length;
    }
    return tokens;
  }

  #function(name: string, depth: number): ConfigNode {
    const origin = this.#origin();
    if (SWEEPS.has(name)) throw this.#error(`'${name}(…)' makes a sweep, which is not supported`, 0);
    const cast = CASTS.get(name);
    if (cast === undefined)
      throw this.#error(`unknown function '${name}'; there are ${[...CASTS.keys()].join(", ")}`, 0);
    if (this.#match(/[ \t]*\)/y) !== undefined) throw this.#error(`'${name}()' needs a value`);
    this.#match(/value[ \t]*=[ \t]*/y);
    const argument = this.#element(depth + 1);
    if (this.#sees(/[ \t]*,/y)) throw this.#error(`'${name}(…)' takes one value`);
    if (this.#match(/[ \t]*\)/y) === undefined) throw this.#error("expected ')'");
    const result = castValue(argument, cast, origin);
    if (result === undefined) throw this.#error(`the value cannot be read as ${name}`);
    return result;
  }

  #expectEnd(): void {
    if (this.#at >= this.#text.length) return;
    throw this.#error(`unexpected '${this.#peek()}'`, this.#at, ` ${this.#quotingAdvice()}`);
  }

  #peek(): string {
    return String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? undefined;
    if (match !== undefined) this.#at += match[0].length;
    return match;
  }

  #sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  #origin(): Origin {
    return { source: this.#source, line: 1, column: this.#at + 1 };
  }

  #position(offset = this.#at) {
    return { source: "command line", line: 1, column: offset + 1 };
  }

  /** Shows how to quote the override so that its value is read literally. */
  #quotingAdvice(): string {
    const [key = "", ...value] = maskWord(this.#text).split("=");
    const quoted = `${key}="${value.join("=").replace(/["\\]/g, "\\$&")}"`;
    return `Put the value in quotes, and the whole word for the shell: '${quoted.replaceAll("'", "'\\''")}'`;
  }

  #error(problem: string, offset = this.#at, advice = ""): OverrideError {
    return new OverrideError(
      `Could not read the override '${maskWord(this.#text)}': ${problem} at position ${offset + 1}.${advice}`,
      { position: this.#position(offset) },
    );
  }
}

function trimBlanks(tokens: WordToken[]): WordToken[] {
  const start = tokens[0]?.kind === "blank" ? 1 : 0;
  const end = tokens.length > start && tokens.at(-1)?.kind === "blank" ? -1 : undefined;
  return tokens.slice(start, end);
}

/** Unescapes quotes, and doubled backslashes before a quote or at the end. Other backslashes are literal. */
function unescapeQuoted(body: string, quote: string): string {
  const escapes = quote === "'" ? /\\+(?='|$)'?/g : /\\+(?="|$)"?/g;
  return body.replace(escapes, (run) => unescapePairs(run));
}
