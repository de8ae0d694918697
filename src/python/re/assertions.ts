import { isAsciiWord, isWord } from "./characters.ts";
import type { AssertionKind } from "./nodes.ts";

/** The place one character before `position`. */
export function before(text: string, position: number): number {
  return position >= 2 && (text.codePointAt(position - 2) ?? 0) > 0xffff ? position - 2 : position - 1;
}

/** Whether an assertion is true at a place in a text. */
export function holds(
  text: string,
  assertion: { kind: AssertionKind; ascii: boolean },
  position: number,
): boolean {
  switch (assertion.kind) {
    case "text-start":
      return position === 0;
    case "line-start":
      return position === 0 || text[position - 1] === "\n";
    case "text-end":
      return position === text.length;
    case "line-end":
      return position === text.length || text[position] === "\n";
    case "text-end-or-last-newline":
      return position === text.length || (position === text.length - 1 && text[position] === "\n");
    case "word-boundary":
      return isBoundary(text, position, assertion.ascii);
    case "not-word-boundary":
      return text.length > 0 && !isBoundary(text, position, assertion.ascii);
  }
}

function isBoundary(text: string, position: number, ascii: boolean): boolean {
  const test = ascii ? isAsciiWord : isWord;
  const left = position > 0 && test(text.codePointAt(before(text, position)) ?? 0);
  const right = position < text.length && test(text.codePointAt(position) ?? 0);
  return left !== right;
}
