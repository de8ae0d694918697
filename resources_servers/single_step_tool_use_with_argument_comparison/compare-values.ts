import { PyFloat, pyEquals, pyTypeName, splitWords } from "nemo-gym/python";
import { CATEGORIES, type Category } from "./categories.ts";

export interface Thresholds {
  /** Minimum share of common words for two texts to count as equal. */
  wordCountSimilarity: number;
  /** Floats closer than this are equal. */
  floatingPoint: number;
}

/** The first reason why `actual` differs from the expected value; undefined if it does not differ. */
export function valueMismatch(
  expected: unknown,
  actual: unknown,
  thresholds: Thresholds,
): Category | undefined {
  const type = pyTypeName(expected);
  const actualType = pyTypeName(actual);
  // In Python a bool is an int, but an int is not a bool.
  if (type !== actualType && !(type === "int" && actualType === "bool")) return CATEGORIES.valueTypeDifferent;
  switch (type) {
    case "dict":
      return objectMismatch(expected as JsonObject, actual as JsonObject, thresholds);
    case "list":
      return listMismatch(expected as unknown[], actual as unknown[], thresholds);
    case "str":
      return textsAgree(expected as string, actual as string, thresholds.wordCountSimilarity)
        ? undefined
        : CATEGORIES.valueDifferent;
    case "float":
      return Math.abs(float(expected) - float(actual)) < thresholds.floatingPoint
        ? undefined
        : CATEGORIES.valueDifferent;
    default:
      return pyEquals(expected, actual) ? undefined : CATEGORIES.valueDifferent;
  }
}

type JsonObject = Record<string, unknown>;

function objectMismatch(
  expected: JsonObject,
  actual: JsonObject,
  thresholds: Thresholds,
): Category | undefined {
  const keys = Object.keys(expected);
  if (keys.length !== Object.keys(actual).length || !keys.every((key) => Object.hasOwn(actual, key))) {
    return CATEGORIES.objectKeysDifferent;
  }
  for (const key of keys) {
    const mismatch = valueMismatch(expected[key], actual[key], thresholds);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function listMismatch(expected: unknown[], actual: unknown[], thresholds: Thresholds): Category | undefined {
  if (expected.length !== actual.length) return CATEGORIES.listLengthDifferent;
  for (const [index, item] of expected.entries()) {
    const mismatch = valueMismatch(item, actual[index], thresholds);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function float(value: unknown): number {
  return value instanceof PyFloat ? value.value : (value as number);
}

/**
 * Texts of two or more words match if enough words are common. The share is relative to the words of both texts, so equal texts
 * score 0.5 and a threshold above 0.5 accepts none.
 */
function textsAgree(expected: string, actual: string, threshold: number): boolean {
  const left = splitWords(expected);
  const right = splitWords(actual);
  if (left.length < 2 || right.length < 2) return expected === actual;
  const counts = new Map<string, number>();
  for (const word of left) {
    const key = word.toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  let common = 0;
  for (const word of right) {
    const key = word.toLowerCase();
    const count = counts.get(key) ?? 0;
    if (count === 0) continue;
    counts.set(key, count - 1);
    common++;
  }
  return common / (left.length + right.length) >= threshold;
}
