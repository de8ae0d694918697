/** Python's character categories (`\d`, `\w`, `\s`), its case-insensitive comparison and its assertions. */
import { isSpaceCode } from "../whitespace.ts";
import type { AssertionKind, CodePointTest } from "./nodes.ts";

const decimalDigit = /^\p{Nd}$/u;
/** `str.isalnum`: letters, and characters with a digit or numeric value. */
const alphanumeric = /^[\p{L}\p{N}]$/u;

export function isDigit(codePoint: number): boolean {
  if (codePoint < 0x80) return codePoint >= 0x30 && codePoint <= 0x39;
  return decimalDigit.test(String.fromCodePoint(codePoint));
}

export function isWord(codePoint: number): boolean {
  if (codePoint < 0x80) return isAsciiWord(codePoint);
  return alphanumeric.test(String.fromCodePoint(codePoint));
}

export function isSpace(codePoint: number): boolean {
  return codePoint <= 0xffff && isSpaceCode(codePoint);
}

export const isAsciiDigit: CodePointTest = (codePoint) => codePoint >= 0x30 && codePoint <= 0x39;
export const isAsciiSpace: CodePointTest = (codePoint) =>
  codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d);

export function isAsciiWord(codePoint: number): boolean {
  return (
    (codePoint >= 0x61 && codePoint <= 0x7a) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    codePoint === 0x5f
  );
}

const capitalDottedI = 0x130;

export function simpleLower(codePoint: number): number {
  if (codePoint === capitalDottedI) return 0x69;
  return single(String.fromCodePoint(codePoint).toLowerCase(), codePoint);
}

function simpleUpper(codePoint: number): number {
  return single(String.fromCodePoint(codePoint).toUpperCase(), codePoint);
}

/** `re` ignores mappings to several characters (ß to SS). */
function single(text: string, fallback: number): number {
  const mapped = text.codePointAt(0) ?? fallback;
  return text.length === (mapped > 0xffff ? 2 : 1) ? mapped : fallback;
}

/** Two characters match each other in a case-insensitive pattern if their keys are equal. */
export function caseKey(codePoint: number): number {
  if (codePoint < 0x80) return codePoint >= 0x61 && codePoint <= 0x7a ? codePoint - 0x20 : codePoint;
  return simpleUpper(simpleLower(codePoint));
}

/** The set of a literal character. */
export function charTest({
  codePoint,
  ignoreCase,
}: {
  codePoint: number;
  ignoreCase: boolean;
}): CodePointTest {
  if (!ignoreCase) return (other) => other === codePoint;
  const key = caseKey(codePoint);
  return (other) => caseKey(other) === key;
}

/** Blocks in which more than two characters share a case key: ſ and s, the Kelvin sign and k, final sigma. */
const crowdedBlocks: readonly (readonly [number, number])[] = [
  [0xb5, 0x24f],
  [0x345, 0x345],
  [0x370, 0x4ff],
  [0x1c80, 0x1c88],
  [0x1e00, 0x1fff],
  [0x2126, 0x212b],
  [0xa64a, 0xa64b],
];
let crowded: Map<number, number[]> | undefined;

function sharersOf(key: number): readonly number[] {
  if (crowded === undefined) {
    crowded = new Map();
    for (const [first, last] of crowdedBlocks) {
      for (let codePoint = first; codePoint <= last; codePoint++) {
        const own = caseKey(codePoint);
        const list = crowded.get(own);
        if (list === undefined) crowded.set(own, [codePoint]);
        else list.push(codePoint);
      }
    }
  }
  return crowded.get(key) ?? [];
}

/** Makes a set case-insensitive: it contains a character if it contains one of its case variants. */
export function ignoringCase(test: CodePointTest, ascii: boolean): CodePointTest {
  if (ascii) return (codePoint) => test(codePoint) || test(asciiSwapCase(codePoint));
  return (codePoint) => {
    if (test(codePoint)) return true;
    const key = caseKey(codePoint);
    return test(key) || test(simpleLower(codePoint)) || test(simpleLower(key)) || sharersOf(key).some(test);
  };
}

function asciiSwapCase(codePoint: number): number {
  if (codePoint >= 0x61 && codePoint <= 0x7a) return codePoint - 0x20;
  return codePoint >= 0x41 && codePoint <= 0x5a ? codePoint + 0x20 : codePoint;
}

/** The same set, with a table for ASCII characters. */
export function tabulated(test: CodePointTest): CodePointTest {
  const table = new Uint8Array(0x80);
  for (let codePoint = 0; codePoint < 0x80; codePoint++) table[codePoint] = test(codePoint) ? 1 : 0;
  return (codePoint) => (codePoint < 0x80 ? table[codePoint] === 1 : test(codePoint));
}

/** The position of the character before `position`. */
export function before(text: string, position: number): number {
  return position >= 2 && (text.codePointAt(position - 2) ?? 0) > 0xffff ? position - 2 : position - 1;
}

/** Whether an assertion is true at a position of a text. */
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
