import { type Comparison, difference as differenceOf } from "../difference.ts";

/** Messages that end with the text of a Python exception: only the part before it is compared. */
const PREFIXES = [/^Error executing tool [^:]*/, /^Error searching emails/];

/** Measured durations: only their type is compared. */
const DURATION = /\.execution time$/;

/** The first difference from the expected value of a fixture, in which some values are placeholders. */
export function difference(
  actual: unknown,
  expected: unknown,
  path: string,
  comparison: Pick<Comparison, "relative" | "subset"> = {},
): string | undefined {
  return differenceOf(actual, expected, path, { ...comparison, matches });
}

function matches(actual: unknown, expected: unknown, path: string): boolean {
  // JSON has no NaN: both sides write it as null.
  if (expected === null) return actual === undefined || Number.isNaN(actual);
  if (DURATION.test(path) && typeof actual === typeof expected) return true;
  return typeof expected === "string" && typeof actual === "string" && matchesText(actual, expected);
}

function matchesText(actual: string, expected: string): boolean {
  if (expected === "<text>") return actual !== "";
  for (const prefix of PREFIXES) {
    const match = prefix.exec(expected);
    if (match) return actual.startsWith(match[0]);
  }
  if (!/<HEX6>|<text>/.test(expected)) return false;
  const pattern = escapePattern(expected).replaceAll("<HEX6>", "[0-9A-F]{6}").replaceAll("<text>", ".+");
  return new RegExp(`^${pattern}$`, "s").test(actual);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
