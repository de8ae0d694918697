import { getCloseMatches } from "../../../base/python/door.ts";

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
    if (getCloseMatches(needle, [text, ...words], 1, CUTOFF).length > 0) return true;
  }
  return false;
}
