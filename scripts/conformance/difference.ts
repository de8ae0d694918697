import { isObject, type JsonObject } from "../../src/base/python/json/json-object.ts";

export interface Comparison {
  /** Maximum difference of two numbers that count as equal, relative to the larger one; 0 unless given. */
  relative?: number;
  /** The same as an absolute value, in addition to the relative one. */
  absolute?: number;
  /** Whether objects may have unexpected keys. */
  subset?: boolean;
  /** Values that count as equal beyond the rules above, such as placeholders in the expected value. */
  matches?: (actual: unknown, expected: unknown, path: string) => boolean;
}

/**
 * The first difference between the actual and the expected value, with its position; undefined if they are equal.
 * Objects must have exactly the expected keys, in any order. A key whose value is undefined counts as absent.
 */
export function difference(
  actual: unknown,
  expected: unknown,
  path = "$",
  comparison: Comparison = {},
): string | undefined {
  if (Object.is(actual, expected) || comparison.matches?.(actual, expected, path)) return undefined;
  if (typeof actual === "number" && typeof expected === "number" && isClose(actual, expected, comparison))
    return undefined;
  if (Array.isArray(expected) && Array.isArray(actual) && actual.length === expected.length) {
    for (const [index, item] of expected.entries()) {
      const found = difference(actual[index], item, `${path}[${index}]`, comparison);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(expected) && isObject(actual)) return keysDifference(actual, expected, path, comparison);
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

function keysDifference(
  actual: JsonObject,
  expected: JsonObject,
  path: string,
  comparison: Comparison,
): string | undefined {
  for (const key of Object.keys(expected)) {
    const found = difference(actual[key], expected[key], `${path}.${key}`, comparison);
    if (found !== undefined) return found;
  }
  if (comparison.subset) return undefined;
  const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key) && actual[key] !== undefined);
  return extra === undefined ? undefined : `${path}.${extra} was not expected: ${show(actual[extra])}`;
}

function isClose(actual: number, expected: number, { relative = 0, absolute = 0 }: Comparison): boolean {
  if (actual === expected) return true;
  return Math.abs(actual - expected) <= absolute + relative * Math.max(Math.abs(actual), Math.abs(expected));
}

const SHOWN_CHARACTERS = 300;

/** The value as JSON, cut if it is long. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
