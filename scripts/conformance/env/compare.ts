import { isObject, type JsonObject } from "./rows.ts";

export interface Comparison {
  /** Maximum relative difference of two numbers that count as equal. */
  tolerance: number;
  /** Whether objects may have unexpected keys. */
  subset?: boolean;
}

/** Messages that end with the text of a Python exception: only the part before it is compared. */
const prefixes = [/^Error executing tool [^:]*/, /^Error searching emails/];

/** Measured durations: only their type is compared. */
const DURATIONS = ["execution time"];

/** The first difference between the actual and the expected value, with its position; undefined if they are equal. */
export function difference(
  actual: unknown,
  expected: unknown,
  path: string,
  comparison: Comparison,
): string | undefined {
  if (typeof expected === "string" && typeof actual === "string") {
    return sameText(actual, expected) ? undefined : mismatch(path, actual, expected);
  }
  if (typeof expected === "number" && typeof actual === "number") {
    return close(actual, expected, comparison.tolerance) ? undefined : mismatch(path, actual, expected);
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return mismatch(path, actual, expected);
    for (const [index, item] of expected.entries()) {
      const found = difference(actual[index], item, `${path}[${index}]`, comparison);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(expected)) return objectDifference(actual, expected, path, comparison);
  // JSON has no NaN: both sides write it as null.
  if (expected === null && (actual === null || actual === undefined || Number.isNaN(actual)))
    return undefined;
  return Object.is(actual, expected) ? undefined : mismatch(path, actual, expected);
}

function objectDifference(
  actual: unknown,
  expected: JsonObject,
  path: string,
  comparison: Comparison,
): string | undefined {
  if (!isObject(actual)) return mismatch(path, actual, expected);
  for (const key of Object.keys(expected)) {
    if (DURATIONS.includes(key) && typeof actual[key] === typeof expected[key]) continue;
    const found = difference(actual[key], expected[key], `${path}.${key}`, comparison);
    if (found !== undefined) return found;
  }
  if (comparison.subset) return undefined;
  const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key) && actual[key] !== undefined);
  return extra === undefined ? undefined : `${path}.${extra} was not expected: ${show(actual[extra])}`;
}

function sameText(actual: string, expected: string): boolean {
  if (actual === expected) return true;
  if (expected === "<text>") return actual !== "";
  for (const prefix of prefixes) {
    const match = prefix.exec(expected);
    if (match) return actual.startsWith(match[0]);
  }
  if (!expected.includes("<HEX6>")) return false;
  const pattern = expected.split("<HEX6>").map(escapePattern).join("[0-9A-F]{6}");
  return new RegExp(`^${pattern}$`, "s").test(actual);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function close(actual: number, expected: number, tolerance: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  return Math.abs(actual - expected) <= tolerance * Math.max(Math.abs(actual), Math.abs(expected));
}

function mismatch(path: string, actual: unknown, expected: unknown): string {
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

const shownCharacters = 300;

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
