import { isObject } from "../../src/python/json/json-object.ts";

const TOLERANCE = 1e-9;
const SHOWN_CHARACTERS = 300;

/**
 * The first difference between the actual and the expected value, with its position; undefined if they are equal. Numbers may differ by 1e-9
 * (absolute plus relative); objects must have exactly the expected keys, in any order.
 */
export function difference(actual: unknown, expected: unknown, path = "$"): string | undefined {
  if (typeof actual === "number" && typeof expected === "number") {
    return sameNumber(actual, expected) ? undefined : mismatch(path, actual, expected);
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return mismatch(path, actual, expected);
    if (actual.length !== expected.length) {
      return `${path}: expected ${expected.length} items, got ${actual.length}: ${show(actual)}`;
    }
    return first(expected.keys(), (index) => difference(actual[index], expected[index], `${path}[${index}]`));
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return mismatch(path, actual, expected);
    const missing = Object.keys(expected).find((key) => !Object.hasOwn(actual, key));
    if (missing !== undefined) return `${path}.${missing} is missing`;
    const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (extra !== undefined) return `${path}.${extra} was not expected: ${show(actual[extra])}`;
    return first(Object.keys(expected), (key) => difference(actual[key], expected[key], `${path}.${key}`));
  }
  return Object.is(actual, expected) ? undefined : mismatch(path, actual, expected);
}

function first<Item>(items: Iterable<Item>, compare: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = compare(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function sameNumber(actual: number, expected: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  return Math.abs(actual - expected) <= TOLERANCE + TOLERANCE * Math.abs(expected);
}

function mismatch(path: string, actual: unknown, expected: unknown): string {
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
