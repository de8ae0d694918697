import { isPyFloat } from "../../python/numbers/py-float.ts";

/**
 * The number of whitespace-separated pieces of Python's JSON text of `value`, counted without writing that text.
 *
 * Every separator the writer puts between members is followed by one space, and inside strings all whitespace but the
 * plain space is escaped; quotes keep the two kinds of space apart.
 */
export function jsonWordCount(value: unknown): number {
  return 1 + countGaps(value);
}

function countGaps(value: unknown): number {
  if (typeof value === "string") return countSpaceRuns(value);
  if (typeof value !== "object" || value === null || isPyFloat(value)) return 0;
  let gaps = 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) gaps += countGaps(item);
    members = value.length;
  } else {
    const object = value as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      const member = object[key];
      if (member === undefined) continue;
      members++;
      gaps += 1 + countSpaceRuns(key) + countGaps(member);
    }
  }
  return gaps + Math.max(0, members - 1);
}

function countSpaceRuns(text: string): number {
  let runs = 0;
  for (let at = text.indexOf(" "); at !== -1; at = text.indexOf(" ", at + 1)) {
    if (text.charCodeAt(at - 1) !== 0x20) runs++;
  }
  return runs;
}
