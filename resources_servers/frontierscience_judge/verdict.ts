import { splitLines } from "nemo-gym/python";

/** The last `Judgement: YES` or `Judgement: NO`. */
export function readVerdict(text: string): "YES" | "NO" | null {
  const last = [...text.matchAll(/Judgement:\s*(YES|NO)/gi)].at(-1)?.[1];
  return last === undefined ? null : (last.toUpperCase() as "YES" | "NO");
}

const NUMBER = String.raw`(-?\d+(?:\.\d+)?)`;
const BRACKETS = new RegExp(
  String.raw`(?:final[_ \t]*)?score\s*\[\s*${NUMBER}\s*\]\s*/\s*(?:max[_ \t]*possible[_ \t]*)?score\s*\[\s*${NUMBER}\s*\]`,
  "i",
);
const FRACTION = new RegExp(String.raw`${NUMBER}\s*(?:/|out\s+of)\s*${NUMBER}`, "i");
const PLAIN = new RegExp(String.raw`score\s*[:=]\s*${NUMBER}`, "i");

/** The points in the last line that speaks of a score and has one. A fraction counts before a number after "score:", as in the original. */
export function readScore(text: string, max: number): number | null {
  const lines = splitLines(text).filter((line) => /score/i.test(line));
  for (const line of lines.reverse()) {
    const score = scoreIn(line, max);
    if (score !== null) return score;
  }
  return null;
}

function scoreIn(line: string, max: number): number | null {
  const fraction = BRACKETS.exec(line) ?? FRACTION.exec(line);
  if (fraction) {
    const [, points, of] = fraction;
    return Number(of) > 0 ? (Number(points) / Number(of)) * max : null;
  }
  const plain = PLAIN.exec(line)?.[1];
  return plain === undefined ? null : Number(plain);
}
