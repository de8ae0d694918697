import { describe, expect, it } from "vitest";
import { parsePyFloat, parsePyInt } from "./parse-number.ts";

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
    "refuses %j",
    (text) => {
      expect(parsePyFloat(text)).toBeUndefined();
    },
  );

  it("takes time proportional to the text", () => {
    const started = performance.now();
    for (const text of ["1_".repeat(500_000), "1".repeat(90_000), `${"1_1".repeat(30_000)}x`])
      parsePyFloat(text);
    expect(performance.now() - started).toBeLessThan(30_000);
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

  it.each(["12.5", "", "1e3", "0x1", "1 2", "9".repeat(4301)])("refuses %j", (text) => {
    expect(parsePyInt(text)).toBeUndefined();
  });
});
