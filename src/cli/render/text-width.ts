const ANSI = /\u001b\[[0-9;]*m/g;
const PLAIN = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const ZERO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d]/u;

/** The width of a text on a terminal: colours count 0, East Asian wide characters and emoji 2. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text.replace(ANSI, "")) {
    if (ZERO_WIDTH.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/** Pads the text with spaces to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/**
 * Breaks a text at spaces into lines of at most `width` columns; splits longer words, after `/`, `_` or `-` if
 * possible.
 */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) lines.push(...wrapParagraph(paragraph, width));
  return lines;
}

function wrapParagraph(paragraph: string, width: number): string[] {
  if (textWidth(paragraph) <= width) return [paragraph];
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph
    .split(" ")
    .filter(Boolean)
    .flatMap((long) => cutWord(long, width))) {
    if (line === "") line = word;
    else if (textWidth(line) + 1 + textWidth(word) <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}

function cutWord(word: string, width: number): string[] {
  if (textWidth(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece !== "" && textWidth(piece + character) > width) {
      const [part = piece] = /^.*\//.exec(piece) ?? /^.*[_-]/.exec(piece) ?? [];
      pieces.push(part);
      piece = piece.slice(part.length);
    }
    piece += character;
  }
  return [...pieces, piece];
}
