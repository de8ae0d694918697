import { isAsciiDigit, isAsciiSpace, isAsciiWord, isDigit, isSpace, isWord } from "./characters.ts";
import type { CodePointTest } from "./nodes.ts";
import type { PatternSource } from "./pattern-source.ts";

/** The set behind `\d`, `\S` and the like; undefined for other letters. */
export function categoryOf(letter: string, ascii: boolean): CodePointTest | undefined {
  switch (letter) {
    case "d":
      return ascii ? isAsciiDigit : isDigit;
    case "D":
      return negated(ascii ? isAsciiDigit : isDigit);
    case "s":
      return ascii ? isAsciiSpace : isSpace;
    case "S":
      return negated(ascii ? isAsciiSpace : isSpace);
    case "w":
      return ascii ? isAsciiWord : isWord;
    case "W":
      return negated(ascii ? isAsciiWord : isWord);
    default:
      return undefined;
  }
}

export function negated(test: CodePointTest): CodePointTest {
  return (codePoint) => !test(codePoint);
}

const controls: Record<string, number> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const hexLengths: Record<string, number> = { x: 2, u: 4, U: 8 };

/** The character an escape stands for; `letter` is what follows the backslash and has been read. */
export function readEscapedCodePoint(
  source: PatternSource,
  letter: string,
  start: number,
  inSet: boolean,
): number {
  const control = controls[letter];
  if (control !== undefined && (inSet || letter !== "b")) return control;
  const hexLength = hexLengths[letter];
  if (hexLength !== undefined) return readHex(source, letter, hexLength, start);
  if (letter >= "0" && letter <= "7") return readOctal(source, letter, start, inSet);
  if (/^[A-Za-z0-9]$/.test(letter)) source.fail(`bad escape \\${letter}`, start);
  return letter.codePointAt(0) ?? 0;
}

function readHex(source: PatternSource, letter: string, length: number, start: number): number {
  const digits = source.takeWhile((character) => /^[0-9A-Fa-f]$/.test(character), length);
  if (digits.length < length) source.fail(`incomplete escape \\${letter}${digits}`, start);
  const value = Number.parseInt(digits, 16);
  if (value > 0x10ffff) source.fail(`bad escape \\${letter}${digits}`, start);
  return value;
}

function readOctal(source: PatternSource, first: string, start: number, inSet: boolean): number {
  const more = source.takeWhile((character) => character >= "0" && character <= "7", 2);
  if (first !== "0" && more.length < 2 && !inSet) source.fail(`bad escape \\${first}`, start);
  const value = Number.parseInt(first + more, 8);
  if (value > 0o377) source.fail(`octal escape value \\${first}${more} outside of range 0-0o377`, start);
  return value;
}
