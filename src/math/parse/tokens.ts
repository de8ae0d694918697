import { ACCENTS, ALIASES, GREEK_CHARACTERS, SPACES, WORDS } from "./commands.ts";

/** A part of an answer with its place in the text. */
export interface Token {
  readonly kind: "number" | "letter" | "command" | "operator" | "named" | "end";
  /** The character, the command without its backslash, the digits, or the name in braces. */
  readonly text: string;
  /** Of `\text{…}`, accents, `\mathbb{…}`, `\operatorname{…}`, `\begin{…}`: the command. */
  readonly command?: string;
  readonly start: number;
  readonly end: number;
}

/** The answer is not in the language of the parser. */
export class ParseError extends Error {
  override readonly name = "ParseError";
  readonly position: number;

  constructor(message: string, position: number) {
    super(`${message} (character ${position + 1})`);
    this.position = position;
  }
}

const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:E[+-]?\d+)?/y;
const COMMAND = /\\(?:[a-zA-Z]+|[^a-zA-Z])/y;
const OPERATORS = /[+\-*/^_=<>!(){}[\]|,;&%'∪∩∖∈∉⊆⊂∅π±⌊⌋⌈⌉∑∏]/;
/** Commands that take their argument as a name, not as mathematics. */
const NAMED = new Set(["text", "mbox", "mathbb", "operatorname", "begin", "end", ...Object.keys(ACCENTS)]);

/** Splits an answer into tokens; throws a ParseError at a character or command that has no meaning here. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const push = (kind: Token["kind"], value: string, end: number, command?: string) => {
    tokens.push({ kind, text: value, start: position, end, ...(command && { command }) });
    position = end;
  };
  while (position < text.length) {
    const character = text[position] as string;
    if (/\s/.test(character)) {
      position++;
      continue;
    }
    const digits = match(NUMBER, text, position);
    if (digits !== undefined) {
      push("number", digits, position + digits.length);
    } else if (character === "\\") {
      readCommand(text, position, push, (end) => {
        position = end;
      });
    } else if (ALIASES[character] !== undefined) {
      const alias = ALIASES[character];
      if (alias.startsWith("\\mathbb")) push("named", alias.charAt(8), position + 1, "mathbb");
      else push("operator", alias, position + 1);
    } else if (/^(?:<=|>=|!=)/.test(text.slice(position, position + 2))) {
      push("operator", text.slice(position, position + 2), position + 2);
    } else if (/[a-zA-Z]/.test(character)) {
      const differential = character === "d" && /^[a-zA-Z]/.test(text.slice(position + 1));
      push(
        "letter",
        differential ? text.slice(position, position + 2) : character,
        position + (differential ? 2 : 1),
      );
    } else if (OPERATORS.test(character)) {
      push("operator", character, position + 1);
    } else if (GREEK_CHARACTERS.has(character)) {
      push("command", GREEK_CHARACTERS.get(character) as string, position + 1);
    } else {
      throw new ParseError(
        `Unexpected character '${String.fromCodePoint(text.codePointAt(position) ?? 0)}'`,
        position,
      );
    }
  }
  push("end", "", position);
  return tokens;
}

type Push = (kind: Token["kind"], value: string, end: number, command?: string) => void;

function readCommand(text: string, position: number, push: Push, skipTo: (end: number) => void): void {
  const whole = match(COMMAND, text, position);
  if (whole === undefined) throw new ParseError("A backslash at the end", position);
  const name = knownPrefix(whole.slice(1));
  if (name === undefined) {
    if (whole === "\\{" || whole === "\\}" || whole === "\\|" || whole === "\\\\") {
      push("operator", whole, position + 2);
      return;
    }
    if (whole === "\\%") {
      push("operator", "%", position + 2);
      return;
    }
    throw new ParseError(`Unknown command ${whole}`, position);
  }
  const end = position + 1 + name.length;
  if (SPACES.has(name)) {
    skipTo(end);
    return;
  }
  const alias = ALIASES[`\\${name}`];
  if (alias !== undefined) push("operator", alias, end);
  else if (NAMED.has(name)) readNamed(text, name, end, position, push);
  else push("command", name, end);
}

function readNamed(text: string, name: string, after: number, position: number, push: Push): void {
  let open = after;
  while (/\s/.test(text[open] ?? "")) open++;
  if (text[open] !== "{") throw new ParseError(`\\${name} needs braces`, position);
  const close = closingBrace(text, open);
  if (close === -1) throw new ParseError(`The braces of \\${name} are not closed`, position);
  push("named", text.slice(open + 1, close), close + 1, name);
}

/** The longest start of a run of letters that is a known command: `\sinx` is `\sin x`. */
function knownPrefix(letters: string): string | undefined {
  for (let length = Math.min(letters.length, 16); length > 0; length--) {
    if (WORDS.has(letters.slice(0, length))) return letters.slice(0, length);
  }
  return undefined;
}

/** Where the brace that opens at `open` is closed, or -1. */
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
