import { similarityRatio } from "../../python/difflib.ts";

/** Minimum similarity of a query and a field, or a word of the field. */
const CUTOFF = 0.7;

/** Whether one of the fields contains the query, or is similar to it as a whole or in one of its words. */
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

/** The full comparison is slow, so words with another length or other letters are excluded first. */
function isClose(candidate: string, needle: string): boolean {
  const total = candidate.length + needle.length;
  if ((2 * Math.min(candidate.length, needle.length)) / total < CUTOFF) return false;
  return (
    (2 * sharedLetters(candidate, needle)) / total >= CUTOFF && similarityRatio(candidate, needle) >= CUTOFF
  );
}

/** The number of letters that two words share. */
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
