import { describe, expect, it } from "vitest";
import { loads } from "../../base/python/json/json-loads.ts";
import { agrees } from "./compare-value.ts";

/** A reply of the harness for a value that is JSON, and the expected value. */
const agree = (value: string, expected: string) =>
  agrees({ json: value, equal: value }, loads(expected, { allowNonFinite: true }));

describe("agrees", () => {
  it.each([
    ["3", "3.0"],
    ["1", "true"],
    ['{"a": 1, "b": [2]}', '{"b": [2], "a": 1.0}'],
    ["0.30000000000000004", "0.3"],
    ['"3"', "3.0"],
    ["[1, 0.1]", "[1.0, 0.1000000001]"],
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["12345678901234567890", "12345678901234567890"],
  ])("accepts %s for %s", (value, expected) => {
    expect(agree(value, expected)).toBe(true);
  });

  it.each([
    ["3", '"3"'],
    ["1000000", "1000001"],
    ["12345678901234567890", "12345678901234567891"],
    ["[[0.1]]", "[[0.1000000001]]"],
    ['{"a": 0.1}', '{"a": 0.1000000001}'],
    ["true", "1.0000001"],
    ["[1, 2]", "[1]"],
    ["null", "0"],
    ['"abc"', '"abd"'],
  ])("rejects %s for %s", (value, expected) => {
    expect(agree(value, expected)).toBe(false);
  });

  it("compares the text of values that equal no JSON value", () => {
    expect(agrees({ json: "[[1, 2]]" }, [[1, 2]])).toBe(true);
    expect(agrees({ json: "[[1, 2]]" }, [[1, 3]])).toBe(false);
    expect(agrees({}, null)).toBe(false);
  });
});
