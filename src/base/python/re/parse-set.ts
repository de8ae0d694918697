import {
  ignoringCase,
  isAsciiDigit,
  isAsciiSpace,
  isAsciiWord,
  isDigit,
  isSpace,
  isWord,
  tabulated,
} from "./characters.ts";
import type { CodePointTest } from "./nodes.ts";
import type { PatternSource } from "./pattern-source.ts";

type Member = { codePoint: number } | { test: CodePointTest };

/** Parses a character set after its `[`. */
export function parseSet(
  source: PatternSource,
  flags: { ignoreCase: boolean; ascii: boolean },
  start: number,
): CodePointTest {
  const negative = source.take("^");
  const singles = new Set<number>();
  const ranges: [number, number][] = [];
  const tests: CodePointTest[] = [];
  const first = source.position;
  for (;;) {
    if (source.peek() === "]" && source.position > first) break;
    const memberStart = source.position;
    const low = readMember(source, flags.ascii, start);
    if (source.peek() !== "-") {
      add(low);
      continue;
    }
    source.next();
    if (source.peek() === undefined) source.fail("unterminated character set", start);
    if (source.peek() === "]") {
      add(low);
      singles.add(0x2d);
      break;
    }
    const high = readMember(source, flags.ascii, start);
    if (!("codePoint" in low) || !("codePoint" in high) || high.codePoint < low.codePoint) {
      return source.fail("bad character range", memberStart);
    }
    ranges.push([low.codePoint, high.codePoint]);
  }
  source.next();

  function add(member: Member): void {
    if ("codePoint" in member) singles.add(member.codePoint);
    else tests.push(member.test);
  }

  const listed: CodePointTest = (codePoint) =>
    singles.has(codePoint) || ranges.some(([low, high]) => codePoint >= low && codePoint <= high);
  const folded = flags.ignoreCase ? ignoringCase(listed, flags.ascii) : listed;
  const test: CodePointTest =
    tests.length === 0
      ? folded
      : (codePoint) => folded(codePoint) || tests.some((category) => category(codePoint));
  return tabulated(negative ? (codePoint) => !test(codePoint) : test);
}

function readMember(source: PatternSource, ascii: boolean, start: number): Member {
  const at = source.position;
  const character = source.next("unterminated character set", start);
  if (character !== "\\") return { codePoint: character.codePointAt(0) ?? 0 };
  const letter = source.next("bad escape (end of pattern)", at);
  const category = categoryOf(letter, ascii);
  if (category) return { test: category };
  return { codePoint: readEscapedCodePoint(source, letter, at, true) };
}

/** The set of a category escape such as `\d` or `\S`; undefined for other letters. */
export function categoryOf(letter: string, ascii: boolean): CodePointTest | undefined {
  switch (letter) {
    case "d":
      return ascii ? isAsciiDigit : isDigit;
    case "s":
      return ascii ? isAsciiSpace : isSpace;
    case "w":
      return ascii ? isAsciiWord : isWord;
    case "D":
    case "S":
    case "W": {
      const test = categoryOf(letter.toLowerCase(), ascii);
      return test && ((codePoint) => !test(codePoint));
    }
    default:
      return undefined;
  }
}

const controls: Record<string, number> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const hexLengths: Record<string, number> = { x: 2, u: 4, U: 8 };

/** The character of an escape; `letter` is the character after the backslash, which was already read. */
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
