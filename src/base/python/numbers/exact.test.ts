import { describe, expect, it } from "vitest";
import { pyRound } from "./exact.ts";

describe("pyRound", () => {
  it.each([
    [0.0625, 3, 0.062],
    [1.125, 2, 1.12],
    [3.375, 2, 3.38],
    [2.675, 2, 2.67],
    [2.665, 2, 2.67],
    [1.005, 2, 1],
    [0.9996, 3, 1],
    [0.0005, 3, 0.001],
    [0.0015, 3, 0.002],
    [-1.125, 2, -1.12],
    [-2.5, 0, -2],
    [0.5, 0, 0],
    [1.5, 0, 2],
    [0.375, 2, 0.38],
    [1e22, 2, 1e22],
    [123456789.125, 2, 123456789.12],
  ])("rounds %d to %d digits as %d", (value, digits, expected) => {
    expect(pyRound(value, digits)).toBe(expected);
  });

  it("keeps the sign of zero, NaN and infinities", () => {
    expect(pyRound(-0.0001, 3)).toBe(-0);
    expect(pyRound(Number.NaN, 2)).toBeNaN();
    expect(pyRound(Number.NEGATIVE_INFINITY, 2)).toBe(Number.NEGATIVE_INFINITY);
  });
});
