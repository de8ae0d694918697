import { byCodePoint } from "./code-points.ts";

/** From this length on Python ignores characters of the second text that make up more than 1 % of it. */
const AUTOJUNK_LENGTH = 200;

interface Match {
  a: number;
  b: number;
  size: number;
}

/** Python's `difflib.SequenceMatcher(None, a, b).ratio()`: 2·M / (len a + len b), M the characters matched. */
export function similarityRatio(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  const total = left.length + right.length;
  if (total === 0) return 1;
  const positions = indexPositions(right);
  let matched = 0;
  const queue: [number, number, number, number][] = [[0, left.length, 0, right.length]];
  for (let range = queue.pop(); range !== undefined; range = queue.pop()) {
    const [aLow, aHigh, bLow, bHigh] = range;
    const match = longestMatch(left, right, positions, range);
    if (match.size === 0) continue;
    matched += match.size;
    if (aLow < match.a && bLow < match.b) queue.push([aLow, match.a, bLow, match.b]);
    const aNext = match.a + match.size;
    const bNext = match.b + match.size;
    if (aNext < aHigh && bNext < bHigh) queue.push([aNext, aHigh, bNext, bHigh]);
  }
  return (2 * matched) / total;
}

/** Python's `difflib.get_close_matches`: the best `count` candidates with at least `cutoff` similarity, best first. */
export function getCloseMatches(
  word: string,
  candidates: readonly string[],
  count = 3,
  cutoff = 0.6,
): string[] {
  const scored: { candidate: string; ratio: number }[] = [];
  for (const candidate of candidates) {
    const ratio = similarityRatio(candidate, word);
    if (ratio >= cutoff) scored.push({ candidate, ratio });
  }
  scored.sort((x, y) => y.ratio - x.ratio || byCodePoint(y.candidate, x.candidate));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

function indexPositions(text: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, character] of text.entries()) {
    const list = positions.get(character);
    if (list === undefined) positions.set(character, [index]);
    else list.push(index);
  }
  if (text.length >= AUTOJUNK_LENGTH) {
    const limit = Math.floor(text.length / 100) + 1;
    for (const [character, list] of positions) if (list.length > limit) positions.delete(character);
  }
  return positions;
}

/** The longest common block in the given ranges; of equal ones the leftmost in `a`, then in `b`. */
function longestMatch(
  a: readonly string[],
  b: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
  [aLow, aHigh, bLow, bHigh]: [number, number, number, number],
): Match {
  const best: Match = { a: aLow, b: bLow, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>();
    for (const j of positions.get(a[i] ?? "") ?? []) {
      if (j < bLow) continue;
      if (j >= bHigh) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) {
        best.a = i - size + 1;
        best.b = j - size + 1;
        best.size = size;
      }
    }
    lengths = next;
  }
  while (best.a > aLow && best.b > bLow && a[best.a - 1] === b[best.b - 1]) {
    best.a--;
    best.b--;
    best.size++;
  }
  while (
    best.a + best.size < aHigh &&
    best.b + best.size < bHigh &&
    a[best.a + best.size] === b[best.b + best.size]
  ) {
    best.size++;
  }
  return best;
}
