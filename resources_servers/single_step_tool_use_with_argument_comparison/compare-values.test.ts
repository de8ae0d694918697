import { loads } from "nemo-gym/python";
import { describe, expect, it } from "vitest";
import { CATEGORIES } from "./categories.ts";
import { valueMismatch } from "./compare-values.ts";

const thresholds = { wordCountSimilarity: 0.1, floatingPoint: 1e-6 };
const compare = (expected: string, actual: string, options = thresholds) =>
  valueMismatch(loads(expected, { allowNonFinite: true }), loads(actual, { allowNonFinite: true }), options);

describe("valueMismatch", () => {
  it.each([
    ["1", "1"],
    ["1", "true"],
    ["null", "null"],
    ["1.0", "1.0000001"],
    ['"x  y"', '"x y"'],
    ['"One two"', '"two three"'],
    ['{"a": [1, {"b": "x y"}]}', '{"a": [1, {"b": "y x"}]}'],
    ["12345678901234567890", "12345678901234567890"],
    ['"\u00a0a\u2003b"', '"a b"'],
  ])("accepts %s for %s", (expected, actual) => {
    expect(compare(expected, actual)).toBeUndefined();
  });

  it.each([
    ["1", "1.0", CATEGORIES.valueTypeDifferent],
    ["true", "1", CATEGORIES.valueTypeDifferent],
    ["0", "null", CATEGORIES.valueTypeDifferent],
    ["1", "false", CATEGORIES.valueDifferent],
    ["1.5", "NaN", CATEGORIES.valueDifferent],
    ["1.0", "1.00001", CATEGORIES.valueDifferent],
    ['"x"', '"X"', CATEGORIES.valueDifferent],
    ['"x"', '"x "', CATEGORIES.valueDifferent],
    ['"one two"', '"one"', CATEGORIES.valueDifferent],
    ["[1, 2]", "[1]", CATEGORIES.listLengthDifferent],
    ["[1, 2]", "[2, 1]", CATEGORIES.valueDifferent],
    ['{"a": 1}', '{"b": 1}', CATEGORIES.objectKeysDifferent],
    ['{"toString": 1}', '{"a": 1}', CATEGORIES.objectKeysDifferent],
    ["12345678901234567890", "12345678901234567891", CATEGORIES.valueDifferent],
  ])("refuses %s for %s", (expected, actual, category) => {
    expect(compare(expected, actual)).toBe(category);
    if (category === CATEGORIES.objectKeysDifferent) expect(compare(actual, expected)).toBe(category);
  });

  it("scores identical texts 0.5", () => {
    expect(compare('"a b c"', '"a b c"', { ...thresholds, wordCountSimilarity: 0.5 })).toBeUndefined();
    expect(compare('"a b c"', '"a b c"', { ...thresholds, wordCountSimilarity: 0.51 })).toBe(
      CATEGORIES.valueDifferent,
    );
  });
});
