import type { TokenizerExtension, Tokens } from "marked";

export interface BoardToken extends Tokens.Generic {
  type: "board";
  text: string;
}

const SHORTEST_LINE = 3;
/** Words, formulas, code, quotes and list items are Markdown. */
const NOT_A_BOARD = /[\p{Ll}\p{Lo}]{2}|[$\\`]|^\s*(?:>|[-*+]\s|\d+[.)]\s)/u;
const TABLE_DELIMITER = /^[\s|:-]*-[\s|:-]*$/;

/**
 * A board drawn with characters, as games show it: lines of one length, without words. Markdown would take its walls (`#####`) for headings
 * and its floor (`_X_`) for emphasis.
 */
export const boardExtension: TokenizerExtension = {
  name: "board",
  level: "block",
  start: (source) => {
    // A board begins with a line, and the paragraph it interrupts ends with a blank line.
    let at = source.indexOf("\n") + 1;
    while (at > 0 && source[at] !== "\n") {
      if (boardAt(source, at) !== undefined) return at;
      at = source.indexOf("\n", at) + 1;
    }
    return undefined;
  },
  tokenizer: (source) => boardAt(source, 0),
};

function boardAt(source: string, from: number): BoardToken | undefined {
  const lines: string[] = [];
  let at = from;
  while (at < source.length) {
    const end = source.indexOf("\n", at);
    const line = source.slice(at, end === -1 ? undefined : end).trimEnd();
    const length = lines[0]?.length ?? Math.max(line.length, SHORTEST_LINE);
    if (line.length !== length || NOT_A_BOARD.test(line)) break;
    if (lines.length === 1 && TABLE_DELIMITER.test(line)) break;
    lines.push(line);
    at = end === -1 ? source.length : end + 1;
  }
  if (lines.length < 2) return undefined;
  return { type: "board", raw: source.slice(from, at), text: lines.join("\n") };
}
