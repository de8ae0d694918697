import { compilePyRegex, type PyRegex, RegexBudgetError } from "nemo-gym/python";
import type { LinesVerifier, MarkersVerifier } from "./row.ts";

/** Maximum number of matches in the details: a text may contain millions. */
const maxListed = 10_000;

/** Lines often repeat. The results of this many lines, up to this length, are cached. */
const maxRemembered = 64;

export interface FormatCheck {
  passed: boolean;
  details: Record<string, unknown>;
}

/** Whether enough lines match at least one of the patterns. */
export function checkLines(text: string, verifier: LinesVerifier): FormatCheck {
  const patterns = Array.from(verifier.verify_regex ?? [], (pattern) => compilePyRegex(pattern));
  const minimum = verifier.verify_min_matches ?? 1;
  const seen = new Map<string, boolean>();
  let matching = 0;
  for (const line of text.split("\n")) {
    let match = seen.get(line);
    if (match === undefined) {
      match = patterns.some((pattern) => matches(pattern, line));
      if (line.length <= maxRemembered && seen.size < maxRemembered) seen.set(line, match);
    }
    if (match) matching++;
  }
  const passed = matching >= minimum;
  return { passed, details: { matching_lines: matching, min_matches: minimum, passed } };
}

/** Whether every expected marker occurs, and no text that matches a marker pattern is an unexpected marker. */
export function checkMarkers(text: string, verifier: MarkersVerifier): FormatCheck {
  const expected = verifier.expected_markers ?? [];
  const markers = Array.from(expected);
  const missing = markers.filter((marker) => !text.includes(marker));
  const known = new Set(markers);
  const spurious: string[] = [];
  for (const pattern of verifier.patterns ?? []) {
    for (const found of findAll(compilePyRegex(pattern), text)) {
      if (!known.has(found) && spurious.length < maxListed) spurious.push(found);
    }
  }
  const passed = missing.length === 0 && spurious.length === 0;
  return { passed, details: { expected, missing, spurious, passed } };
}

/** A pattern that takes too long on a text counts as not matching. */
function matches(pattern: PyRegex, text: string): boolean {
  try {
    return pattern.search(text) !== null;
  } catch (error) {
    if (error instanceof RegexBudgetError) return false;
    throw error;
  }
}

function* findAll(pattern: PyRegex, text: string): Generator<string> {
  try {
    for (const match of pattern.finditer(text)) yield match.group() ?? "";
  } catch (error) {
    if (!(error instanceof RegexBudgetError)) throw error;
  }
}
