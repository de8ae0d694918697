import { MAX_DEPTH, spend } from "../budget.ts";
import { ACCENTS, ALIASES, GREEK_CHARACTERS, SPACES, WORDS } from "./commands.ts";

/** A token with its position in the text. */
export interface Token {
  readonly kind: "number" | "letter" | "command" | "operator" | "named" | "end";
  /** The character, the command without the backslash, the digits, or the name in braces. */
  readonly text: string;
  /** The command of `\text{…}`, accents, `\mathbb{…}`, `\operatorname{…}` and `\begin{…}`. */
  readonly command?: string;
  readonly start: number;
  readonly end: number;
}

/** The answer cannot be parsed. */
export class ParseError extends Error {
  override readonly name = "ParseError";
  readonly position: number;

  constructor(message: string, position: number) {
    super(`${message} (character ${position + 1})`);
    this.position = position;
  }
}

/** Characters that are split into tokens in one step. */
const READ_CHARS = 4;
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:E[+-]?\d+)?/y;
const COMMAND = /\\(?:[a-zA-Z]+|[^a-zA-Z])/y;
const OPERATORS = /[+\-*/^_=<>!(){}[\]|,;&%'∪∩∖∈∉⊆⊂∅π±⌊⌋⌈⌉∑∏]/;
/** Commands whose argument is a name. */
const NAMED = new Set(["text", "mbox", "mathbb", "operatorname", "begin", "end", ...Object.keys(ACCENTS)]);

/** Splits an answer into tokens. Throws a ParseError at an unknown character or command. */
export function tokenize(text: string): Token[] {
  spend(text.length / READ_CHARS);
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const token = /\s/.test(text[position] as string) ? undefined : readToken(text, position);
    position = token?.end ?? position + 1;
    if (token !== undefined && token.kind !== "space") tokens.push(token as Token);
  }
  tokens.push({ kind: "end", text: "", start: position, end: position });
  return tokens;
}

/** A token, or a command for spacing. */
type ReadToken = Omit<Token, "kind"> & { kind: Token["kind"] | "space" };

function readToken(text: string, start: number): ReadToken {
  const character = text[start] as string;
  const operator = (value: string, length = 1): ReadToken => ({
    kind: "operator",
    text: value,
    start,
    end: start + length,
  });
  const digits = match(NUMBER, text, start);
  if (digits !== undefined) return { kind: "number", text: digits, start, end: start + digits.length };
  if (character === "\\") return readCommand(text, start);
  const alias = ALIASES[character];
  if (alias?.startsWith("\\mathbb"))
    return { kind: "named", text: alias.charAt(8), start, end: start + 1, command: "mathbb" };
  if (alias !== undefined) return operator(alias);
  const two = text.slice(start, start + 2);
  if (/^(?:<=|>=|!=)/.test(two)) return operator(two, 2);
  if (/[a-zA-Z]/.test(character)) {
    const letters = /^d[a-zA-Z]/.test(two) ? two : character;
    return { kind: "letter", text: letters, start, end: start + letters.length };
  }
  if (OPERATORS.test(character)) return operator(character);
  const greek = GREEK_CHARACTERS.get(character);
  if (greek !== undefined) return { kind: "command", text: greek, start, end: start + 1 };
  const unexpected = String.fromCodePoint(text.codePointAt(start) ?? 0);
  throw new ParseError(`Unexpected character '${unexpected}'`, start);
}

function readCommand(text: string, start: number): ReadToken {
  const whole = match(COMMAND, text, start);
  if (whole === undefined) throw new ParseError("A backslash at the end", start);
  const name = knownPrefix(whole.slice(1));
  if (name === undefined) {
    if (!["\\{", "\\}", "\\|", "\\\\", "\\%"].includes(whole))
      throw new ParseError(`Unknown command ${whole}`, start);
    return { kind: "operator", text: whole === "\\%" ? "%" : whole, start, end: start + 2 };
  }
  const end = start + 1 + name.length;
  if (SPACES.has(name)) return { kind: "space", text: name, start, end };
  const alias = ALIASES[`\\${name}`];
  if (alias !== undefined) return { kind: "operator", text: alias, start, end };
  return NAMED.has(name) ? readNamed(text, name, start, end) : { kind: "command", text: name, start, end };
}

/** Reads a command whose argument is a name in braces. */
function readNamed(text: string, command: string, start: number, after: number): ReadToken {
  let open = after;
  while (/\s/.test(text[open] ?? "")) open++;
  if (text[open] !== "{") throw new ParseError(`\\${command} needs braces`, start);
  const close = closingBrace(text, open);
  if (close === -1) throw new ParseError(`The braces of \\${command} are not closed`, start);
  return { kind: "named", text: text.slice(open + 1, close), start, end: close + 1, command };
}

/** The longest prefix that is a known command: `\sinx` is `\sin x`. */
function knownPrefix(letters: string): string | undefined {
  for (let length = Math.min(letters.length, 16); length > 0; length--) {
    if (WORDS.has(letters.slice(0, length))) return letters.slice(0, length);
  }
  return undefined;
}

/** The position of the brace that closes the brace at `open`, or -1. */
export function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return index;
  }
  return -1;
}

function match(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0];
}

/** An exception costs as much time as this number of tokens. */
const FAILURE_STEPS = 20;

/** Reads tokens with backtracking. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;
  readonly #failed = new Set<string>();

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  get token(): Token {
    return this.ahead(0);
  }

  ahead(count: number): Token {
    return this.#tokens[Math.min(this.#index + count, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    spend();
    const token = this.token;
    this.#index++;
    return token;
  }

  isOperator(...texts: string[]): boolean {
    return this.token.kind === "operator" && texts.includes(this.token.text);
  }

  isCommand(...texts: string[]): boolean {
    return this.token.kind === "command" && texts.includes(this.token.text);
  }

  take(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.next();
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(`expected '${text}'`);
  }

  unexpected(what = "unexpected"): ParseError {
    const { kind, text, start } = this.token;
    return new ParseError(
      kind === "end" ? `The answer ends early: ${what}` : `Unexpected '${text}': ${what}`,
      start,
    );
  }

  /**
   * Calls `read`. If it fails, or `accept` rejects the result, goes back and returns undefined. With a `rule`, a position at which
   * it failed is not tried again.
   */
  attempt<T>(read: () => T, accept: (value: T) => boolean = () => true, rule?: string): T | undefined {
    const start = this.#index;
    const depth = this.#depth;
    const place = `${rule} ${start}`;
    if (rule !== undefined && this.#failed.has(place)) return undefined;
    try {
      const value = read();
      if (accept(value)) return value;
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      spend(FAILURE_STEPS);
    }
    this.#index = start;
    this.#depth = depth;
    if (rule !== undefined) this.#failed.add(place);
    return undefined;
  }

  /** Limits the nesting of `read`. */
  nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new ParseError("The answer nests too deeply", this.token.start);
    const value = read();
    this.#depth--;
    return value;
  }
}
