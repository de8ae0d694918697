import { parsePyFloat } from "../../base/python/numbers/door.ts";
import type { ScalarValue } from "../node.ts";
import { asFloat, narrow } from "../yaml/scalars.ts";

/**
 * The tokens of unquoted values in overrides (Hydra's grammar) and in the arguments of resolvers (OmegaConf's grammar).
 */
type WordKind = "float" | "integer" | "boolean" | "null" | "word" | "loose" | "escape" | "blank" | "colon";

export interface WordToken {
  kind: WordKind;
  text: string;
}

const UNSIGNED = "(?:0|[1-9](?:_?[0-9])*)";
const FRACTION = `(?:(?:${UNSIGNED})?\\.[0-9](?:_?[0-9])*|${UNSIGNED}\\.)`;
const EXPONENT = `(?:${FRACTION}|${UNSIGNED})[eE][+-]?[0-9](?:_?[0-9])*`;

/** In order of preference among matches of equal length. */
const PATTERNS: readonly [WordKind, RegExp][] = [
  ["colon", /[ \t]*:[ \t]*/y],
  ["float", new RegExp(`[+-]?(?:${EXPONENT}|${FRACTION}|[iI][nN][fF]|[nN][aA][nN])`, "y")],
  ["integer", new RegExp(`[+-]?${UNSIGNED}`, "y")],
  ["boolean", /(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])/y],
  ["null", /[nN][uU][lL][lL]/y],
  ["loose", /[/\-\\+.$%*@?|]/y],
  ["word", /[a-zA-Z_][a-zA-Z0-9_-]*/y],
  ["escape", /(?:\\[\\()[\]{}:=, \t])+/y],
  ["blank", /[ \t]+/y],
];

/** The longest token at `offset`. */
export function wordAt(text: string, offset: number): WordToken | undefined {
  let best: WordToken | undefined;
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = offset;
    const match = pattern.exec(text);
    if (match !== null && match[0].length > (best?.text.length ?? 0)) best = { kind, text: match[0] };
  }
  return best;
}

/** The value of a sequence of tokens: typed for a single token, otherwise their text without escapes. */
export function primitiveValue(tokens: readonly WordToken[]): ScalarValue {
  const [first] = tokens;
  if (tokens.length !== 1 || first === undefined) return tokens.map(wordText).join("");
  switch (first.kind) {
    case "integer":
      return narrow(BigInt(first.text.replaceAll("_", "").replace(/^\+/, "")));
    case "float":
      return asFloat(parsePyFloat(first.text) ?? Number.NaN);
    case "boolean":
      return first.text.toLowerCase() === "true";
    case "null":
      return null;
    default:
      return wordText(first);
  }
}

export function wordText(token: WordToken): string {
  return token.kind === "escape" ? unescapePairs(token.text) : token.text;
}

/** Keeps every second character: `\\\,` becomes `\,`. */
export function unescapePairs(text: string): string {
  let result = "";
  for (let index = 1; index < text.length; index += 2) result += text[index];
  return result;
}
