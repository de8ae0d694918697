import { SPACE_CLASS, strip } from "nemo-gym/python";

const STARS = new RegExp(`[${SPACE_CLASS}]?\\*\\*\\*[${SPACE_CLASS}]?`);

/** The pieces between `***` lines. */
export function starParagraphs(text: string): string[] {
  return text.split(STARS);
}

/** The number of non-blank pieces; undefined if a blank piece is not at either end. */
export function countPieces(pieces: readonly string[]): number | undefined {
  let count = pieces.length;
  for (const [index, piece] of pieces.entries()) {
    if (strip(piece) !== "") continue;
    if (index !== 0 && index !== pieces.length - 1) return undefined;
    count--;
  }
  return count;
}
