import { describe, expect, it } from "vitest";
import { growthOf } from "../../../testing/growth.ts";
import { parsePyFloat, parsePyInt, toPyFloat, toPyInt } from "./parse-number.ts";
import { PyFloat } from "./py-float.ts";

describe("parsePyFloat", () => {
  it.each([
    [" 2 ", 2],
    ["1_0", 10],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["-1_0.2_5E-1_0", -10.25e-10],
    ["+inf", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["NaN", Number.NaN],
    ["\u00a0３.１４\u2003", 3.14],
    ["١٢", 12],
    ["𝟝", 5],
    ["1e999", Number.POSITIVE_INFINITY],
  ])("%j is %d", (text, value) => {
    expect(parsePyFloat(text)).toBe(value);
  });

  it.each(["", " ", ".", "1__0", "_1", "1_", "1e", "0x10", "1,5", "infinit", "- 1", "½"])(
    "rejects %j",
    (text) => {
      expect(parsePyFloat(text)).toBeUndefined();
    },
  );

  it("takes time proportional to the text", async () => {
    for (const unit of ["1_", "1", "1_1"])
      expect(await growthOf((size) => parsePyFloat(`${unit.repeat(size)}x`), 2_000)).toBeLessThan(1.6);
  });
});

describe("parsePyInt", () => {
  it.each([
    ["12", 12n],
    [" -1_000\n", -1000n],
    ["+007", 7n],
    ["１２", 12n],
    ["99999999999999999999", 99999999999999999999n],
  ])("%j is %d", (text, value) => {
    expect(parsePyInt(text)).toBe(value);
  });

  it.each(["12.5", "", "1e3", "0x1", "1 2", "9".repeat(4301)])("rejects %j", (text) => {
    expect(parsePyInt(text)).toBeUndefined();
  });
});

it.each<[unknown, number | undefined, number | bigint | undefined]>([
  [true, 1, 1],
  [-2.7, -2.7, -2],
  [-0.5, -0.5, 0],
  [new PyFloat(3), 3, 3],
  [" 1_0 ", 10, 10],
  ["1.5", 1.5, undefined],
  [2n ** 60n, 2 ** 60, 2n ** 60n],
  ["9007199254740993", 2 ** 53, 9007199254740993n],
  [1e20, 1e20, 10n ** 20n],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, undefined],
  [null, undefined, undefined],
  [[1], undefined, undefined],
  [{ value: 1 }, undefined, undefined],
])("reads %s as a number and as an integer", (value, float, integer) => {
  expect(toPyFloat(value)).toBe(float);
  expect(toPyInt(value)).toBe(integer);
});
