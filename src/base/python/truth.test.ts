import { describe, expect, it } from "vitest";
import { loads } from "./json/json-loads.ts";
import { PyFloat } from "./numbers/py-float.ts";
import { isTruthy, pyEquals } from "./truth.ts";

const equal = (left: string, right: string) =>
  pyEquals(loads(left, { allowNonFinite: true }), loads(right, { allowNonFinite: true }));

describe("pyEquals", () => {
  it.each([
    ["1", "1.0"],
    ["true", "1"],
    ["0.0", "false"],
    ["-0.0", "0"],
    ["null", "null"],
    ['"a"', '"a"'],
    ["[1, [2.0]]", "[1.0, [2]]"],
    ['{"a": 1, "b": [true]}', '{"b": [1], "a": 1.0}'],
    ["9007199254740993", "9007199254740993"],
    ["1e300", "1E+300"],
    ["{}", "{}"],
  ])("%s == %s", (left, right) => {
    expect(equal(left, right)).toBe(true);
    expect(equal(right, left)).toBe(true);
  });

  it.each([
    ["1", '"1"'],
    ["NaN", "NaN"],
    ["null", "0"],
    ["null", "false"],
    ["[]", "{}"],
    ["[1]", "[1, 1]"],
    ['{"a": 1}', '{"a": 1, "b": 2}'],
    ['{"a": null}', '{"b": null}'],
    ['{"toString": 1}', '{"a": 1}'],
    ["9007199254740993", "9007199254740992.0"],
    ['"A"', '"a"'],
  ])("%s != %s", (left, right) => {
    expect(equal(left, right)).toBe(false);
    expect(equal(right, left)).toBe(false);
  });
});

it("isTruthy follows Python", () => {
  expect([1, -0.5, "0", [0], { a: 0 }, true, Number.NaN, 1n, new PyFloat(2)].map(isTruthy)).not.toContain(
    false,
  );
  expect([0, -0, "", [], {}, false, null, undefined, 0n, new PyFloat(0)].map(isTruthy)).not.toContain(true);
});
