import type { TokenizerExtension, Tokens } from "marked";

export interface BoardToken extends Tokens.Generic {
  type: "board";
  text: string;
}

const SHORTEST_LINE = 3;
/** Minimum number of lines of a drawing with lines of different lengths. */
const LEAST_DRAWN_LINES = 3;
/** Words, formulas, code, quotes and list items are Markdown. */
const NOT_A_BOARD = /[\p{Ll}\p{Lo}]{2}|[$\\`]|^\s*(?:>|[-*+]\s|\d+[.)]\s)/u;
/** In a drawing, backslashes and quotes may be strokes. */
const NOT_DRAWN = /[\p{Ll}\p{Lo}]{2}|[$`]|\\[A-Za-z()[\]]|^\s*(?:[-*+]\s|\d+[.)]\s)/u;
const TABLE_DELIMITER = /^[\s|:-]*-[\s|:-]*$/;

/**
 * A board or another character drawing: lines of equal length without words, or lines of symbols. Markdown would parse
 * the walls of a board (`#####`) as headings and its floor (`_X_`) as emphasis.
 */
export const boardExtension: TokenizerExtension = {
  name: "board",
  level: "block",
  start: (source) => {
    // A board begins with a line, and a blank line ends the paragraph that it interrupts.
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
  return linesFrom(source, from, 2, isBoardLine) ?? linesFrom(source, from, LEAST_DRAWN_LINES, isDrawnLine);
}

/** The lines of a board, if there are enough. */
function linesFrom(
  source: string,
  from: number,
  least: number,
  belongs: (line: string, first: string | undefined) => boolean,
): BoardToken | undefined {
  const lines: string[] = [];
  let at = from;
  while (at < source.length) {
    const end = source.indexOf("\n", at);
    const line = source.slice(at, end === -1 ? undefined : end).trimEnd();
    if (!belongs(line, lines[0])) break;
    if (lines.length === 1 && TABLE_DELIMITER.test(line)) break;
    lines.push(line);
    at = end === -1 ? source.length : end + 1;
  }
  if (lines.length < least) return undefined;
  return { type: "board", raw: source.slice(from, at), text: lines.join("\n") };
}

function isBoardLine(line: string, first: string | undefined): boolean {
  return line.length === (first?.length ?? Math.max(line.length, SHORTEST_LINE)) && !NOT_A_BOARD.test(line);
}

/** Whether at least half of a line are symbols. A quote only counts after the first line. */
function isDrawnLine(line: string, first: string | undefined): boolean {
  if (NOT_DRAWN.test(line)) return false;
  if (first === undefined && /^\s*>/.test(line)) return false;
  const signs = line.match(/[^\p{L}\p{N}\s]/gu)?.length ?? 0;
  return signs > 0 && signs >= line.replace(/\s/g, "").length / 2;
}
