import { GymError } from "../errors.ts";
import { byCodePoint } from "./code-points.ts";

/** In a second text of this length or more, Python ignores characters that make up more than 1 % of it. */
const AUTOJUNK_LENGTH = 200;

interface Match {
  a: number;
  b: number;
  size: number;
}

/** The comparison of two texts takes more steps than allowed. */
export class SimilarityBudgetError extends GymError {
  constructor(steps: number) {
    super("SIMILARITY_BUDGET", `The comparison was stopped after ${steps} steps.`);
  }
}

/**
 * Python's `difflib.SequenceMatcher(None, a, b).ratio()`: 2·M / (len a + len b), where M is the number of matched characters.
 * The time can grow with the product of the lengths. After `maxSteps` it throws `SimilarityBudgetError`.
 */
export function similarityRatio(a: string, b: string, options: { maxSteps?: number } = {}): number {
  const matcher = new Matcher(codePointsOf(a), codePointsOf(b), options);
  const total = matcher.left.length + matcher.right.length;
  return total === 0 ? 1 : (2 * matcher.matchedCharacters()) / total;
}

function codePointsOf(text: string): Int32Array {
  const codePoints = new Int32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; length++) {
    const codePoint = text.codePointAt(index) ?? 0;
    codePoints[length] = codePoint;
    index += codePoint > 0xffff ? 2 : 1;
  }
  return codePoints.subarray(0, length);
}

/** Python's `difflib.get_close_matches`: the best `count` candidates with a similarity of at least `cutoff`, best first. */
export function getCloseMatches(
  word: string,
  candidates: readonly string[],
  count = 3,
  cutoff = 0.6,
): string[] {
  const scored: { candidate: string; ratio: number }[] = [];
  const right = codePointsOf(word);
  for (const candidate of candidates) {
    const left = codePointsOf(candidate);
    // Like Python, first computes bounds that are cheaper than the comparison.
    const least = (cutoff * (left.length + right.length)) / 2;
    if (Math.min(left.length, right.length) < least || sharedCharacters(left, right) < least) continue;
    const ratio = similarityRatio(candidate, word);
    if (ratio >= cutoff) scored.push({ candidate, ratio });
  }
  scored.sort((x, y) => y.ratio - x.ratio || byCodePoint(y.candidate, x.candidate));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

/** The number of characters that two texts have in common, in any order. */
function sharedCharacters(a: Int32Array, b: Int32Array): number {
  const rest = b.slice();
  let shared = 0;
  for (const character of a) {
    const index = rest.indexOf(character);
    if (index < 0) continue;
    rest[index] = -1;
    shared++;
  }
  return shared;
}

/**
 * Python's `difflib.unified_diff` without the file names: hunks of changed lines with `context` lines around them. Frequent lines
 * are compared too (`autojunk` is off).
 */
export function unifiedDiff(before: readonly string[], after: readonly string[], context = 3): string[] {
  return groupedChanges(changes(before, after), context).flatMap((group) => [
    `@@ -${rangeOf(group, "a")} +${rangeOf(group, "b")} @@`,
    ...group.flatMap(({ same, a, b }) => {
      const old = before.slice(...a);
      if (same) return old.map((line) => ` ${line}`);
      return [...old.map((line) => `-${line}`), ...after.slice(...b).map((line) => `+${line}`)];
    }),
  ]);
}

/** A part that is the same in both texts, or differs. Ends are exclusive. */
interface Change {
  same: boolean;
  a: [start: number, end: number];
  b: [start: number, end: number];
}

function changes(before: readonly string[], after: readonly string[]): Change[] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  const [left, right] = [before, after].map((lines) => Int32Array.from(lines, numberOf));
  if (left === undefined || right === undefined) return [];
  const matches = new Matcher(left, right, { autojunk: false })
    .matches()
    .sort((x, y) => x.a - y.a || x.b - y.b);
  const found: Change[] = [];
  let [i, j] = [0, 0];
  for (const { a, b, size } of [...matches, { a: before.length, b: after.length, size: 0 }]) {
    if (i < a || j < b) found.push({ same: false, a: [i, a], b: [j, b] });
    const last = found.at(-1);
    // Joins adjacent blocks.
    if (last?.same && last.a[1] === a && last.b[1] === b) [last.a[1], last.b[1]] = [a + size, b + size];
    else if (size > 0) found.push({ same: true, a: [a, a + size], b: [b, b + size] });
    [i, j] = [a + size, b + size];
  }
  return found;
}

function groupedChanges(all: readonly Change[], context: number): Change[][] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [index, change] of all.entries()) {
    const { same, a, b } = change;
    if (!same) {
      group.push(change);
      continue;
    }
    const first = index === 0;
    const last = index === all.length - 1;
    const tail = Math.min(a[0] + context, a[1]) - a[0];
    const head = a[1] - Math.max(a[1] - context, a[0]);
    const short = a[1] - a[0] <= 2 * context;
    if (!first && !last && short) {
      group.push(change);
      continue;
    }
    if (!first) {
      group.push({ same, a: [a[0], a[0] + tail], b: [b[0], b[0] + tail] });
      groups.push(group);
      group = [];
    }
    if (!last) group = [{ same, a: [a[1] - head, a[1]], b: [b[1] - head, b[1]] }];
  }
  if (group.some(({ same }) => !same)) groups.push(group);
  return groups;
}

/** A range of lines such as `3,7`. One line has no length. An empty range names the line before it. */
function rangeOf(group: readonly Change[], side: "a" | "b"): string {
  const start = group[0]?.[side][0] ?? 0;
  const length = (group.at(-1)?.[side][1] ?? 0) - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

class Matcher {
  readonly left: Int32Array;
  readonly right: Int32Array;
  private readonly positions: ReadonlyMap<number, readonly number[]>;
  private stepsLeft: number;
  private readonly maxSteps: number;
  /** Lengths of the matches that end at each position of the second text, for the previous and the current character of the first. */
  private previous: Int32Array;
  private current: Int32Array;

  constructor(
    left: Int32Array,
    right: Int32Array,
    { maxSteps = Number.POSITIVE_INFINITY, autojunk = true }: { maxSteps?: number; autojunk?: boolean },
  ) {
    this.left = left;
    this.right = right;
    this.positions = indexPositions(right, autojunk);
    this.maxSteps = maxSteps;
    this.stepsLeft = maxSteps;
    this.previous = new Int32Array(right.length + 1);
    this.current = new Int32Array(right.length + 1);
  }

  matchedCharacters(): number {
    return this.matches().reduce((total, { size }) => total + size, 0);
  }

  /** All common blocks, unordered. */
  matches(): Match[] {
    const matches: Match[] = [];
    const queue: [number, number, number, number][] = [[0, this.left.length, 0, this.right.length]];
    for (let range = queue.pop(); range !== undefined; range = queue.pop()) {
      const [aLow, aHigh, bLow, bHigh] = range;
      const match = this.longestMatch(aLow, aHigh, bLow, bHigh);
      if (match.size === 0) continue;
      matches.push(match);
      if (aLow < match.a && bLow < match.b) queue.push([aLow, match.a, bLow, match.b]);
      const aNext = match.a + match.size;
      const bNext = match.b + match.size;
      if (aNext < aHigh && bNext < bHigh) queue.push([aNext, aHigh, bNext, bHigh]);
    }
    return matches;
  }

  /** The longest common block in the given ranges. Among equals, the leftmost in `a`, then in `b`. */
  private longestMatch(aLow: number, aHigh: number, bLow: number, bHigh: number): Match {
    const { left, right } = this;
    const best: Match = { a: aLow, b: bLow, size: 0 };
    let filled: readonly number[] = [];
    for (let i = aLow; i < aHigh; i++) {
      const places = this.positions.get(left[i] ?? 0) ?? [];
      this.spend(places.length + 1);
      const { previous, current } = this;
      for (const j of places) {
        if (j < bLow) continue;
        if (j >= bHigh) break;
        // Index j + 1 holds the length of the match that ends at j. Index 0 is before the first character.
        const size = (previous[j] ?? 0) + 1;
        current[j + 1] = size;
        if (size > best.size) {
          best.a = i - size + 1;
          best.b = j - size + 1;
          best.size = size;
        }
      }
      for (const j of filled) previous[j + 1] = 0;
      filled = places;
      this.previous = current;
      this.current = previous;
    }
    for (const j of filled) this.previous[j + 1] = 0;
    while (best.a > aLow && best.b > bLow && left[best.a - 1] === right[best.b - 1]) {
      best.a--;
      best.b--;
      best.size++;
    }
    while (
      best.a + best.size < aHigh &&
      best.b + best.size < bHigh &&
      left[best.a + best.size] === right[best.b + best.size]
    ) {
      best.size++;
    }
    return best;
  }

  private spend(steps: number): void {
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0) throw new SimilarityBudgetError(this.maxSteps);
  }
}

function indexPositions(text: Int32Array, autojunk: boolean): Map<number, number[]> {
  const positions = new Map<number, number[]>();
  for (const [index, codePoint] of text.entries()) {
    const list = positions.get(codePoint);
    if (list === undefined) positions.set(codePoint, [index]);
    else list.push(index);
  }
  if (autojunk && text.length >= AUTOJUNK_LENGTH) {
    const limit = Math.floor(text.length / 100) + 1;
    for (const [codePoint, list] of positions) if (list.length > limit) positions.delete(codePoint);
  }
  return positions;
}
