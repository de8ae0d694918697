import { ignoringCase, tabulated } from "./characters.ts";
import { categoryOf, readEscapedCodePoint } from "./escapes.ts";
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
