import { similarityRatio } from "../../python/difflib.ts";

/** How alike a query and a field, or one of its words, have to be. */
const CUTOFF = 0.7;

/** Whether a query is found in one of the fields: literally, or nearly as a whole field or as a word of one. */
export function matchesQuery(query: string, fields: Iterable<string | undefined>): boolean {
  const needle = query.toLowerCase();
  for (const field of fields) {
    if (field === undefined || field === "") continue;
    const text = field.toLowerCase();
    if (text.includes(needle)) return true;
    const words = text.split(/[_\-\s]+/).filter((word) => word !== "");
    if ([text, ...words].some((candidate) => isClose(candidate, needle))) return true;
  }
  return false;
}

/** A full comparison is costly; most words fail by their length, or by the letters they share, already. */
function isClose(candidate: string, needle: string): boolean {
  const total = candidate.length + needle.length;
  if ((2 * Math.min(candidate.length, needle.length)) / total < CUTOFF) return false;
  return (
    (2 * sharedLetters(candidate, needle)) / total >= CUTOFF && similarityRatio(candidate, needle) >= CUTOFF
  );
}

/** How many letters of one word can be found in the other, each used once. */
function sharedLetters(candidate: string, needle: string): number {
  let left = candidate;
  let shared = 0;
  for (const letter of needle) {
    const at = left.indexOf(letter);
    if (at < 0) continue;
    left = left.slice(0, at) + left.slice(at + letter.length);
    shared += letter.length;
  }
  return shared;
}
