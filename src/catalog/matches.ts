import { similarityRatio } from "../python/difflib.ts";

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

/** The similarity is at most twice the shorter length over the sum of both, so most words need no comparison. */
function isClose(candidate: string, needle: string): boolean {
  const [a, b] = [candidate.length, needle.length];
  if ((2 * Math.min(a, b)) / (a + b) < CUTOFF) return false;
  return similarityRatio(candidate, needle) >= CUTOFF;
}
