import { describe, expect, it } from "vitest";
import { CalculatorError, calculate, findCalculator } from "./calculators.ts";

function run(name: string, args: Record<string, number>): number {
  const calculator = findCalculator(name);
  if (calculator === undefined) throw new Error(`no calculator ${name}`);
  return calculate(name, calculator, args);
}

describe("calculators", () => {
  it.each([
    ["add", { a: 7, b: -2.25 }, 5.95],
    ["subtract", { a: 0.1, b: -6 }, 3.0999999999999996],
    ["multiply", { a: 0.1, b: -1 }, -0.11000000000000001],
    ["divide", { a: 10, b: 3.5 }, 1.4285714285714286],
    ["power", { a: 3.5, b: -2.25 }, 0.7311104457090247],
    ["sin", { radians: 1e10 }, 0.873119622676856],
    ["cos", { radians: 1e10 }, -0.4875060250875107],
    ["log", { a: 1e10, base: 9 }, 9.792503710240242],
    ["pi", {}, Math.E],
    ["negate", { a: 3.5 }, 3.5],
    ["return_constant", { a: -1 }, -1],
    ["multiply", { a: 1e200, b: 1e200 }, Number.POSITIVE_INFINITY],
    ["power", { a: -2, b: 1 }, -8],
    ["power", { a: 0, b: -2 }, 1],
    ["power", { a: Number.NEGATIVE_INFINITY, b: 1 }, Number.NEGATIVE_INFINITY],
  ])("%s of %j is %d", (name, args, solution) => {
    expect(run(name, args)).toBe(solution);
  });

  it.each([
    ["divide", { a: 1, b: 0 }, "float division by zero"],
    ["log", { a: 5, base: -2.5 }, "float division by zero"],
    ["log", { a: 0, base: 2 }, "math domain error"],
    ["log", { a: 5, base: -1.5 }, "math domain error"],
    ["sin", { radians: Number.POSITIVE_INFINITY }, "math domain error"],
    ["power", { a: 0, b: -5 }, "0.0 cannot be raised to a negative power"],
    ["power", { a: -6, b: 3.5 }, "complex"],
    ["power", { a: 1e200, b: 5 }, "out of range"],
    ["add", {}, "add() missing 2 required positional arguments: 'a' and 'b'"],
    ["add", { a: 1 }, "add() missing 1 required positional argument: 'b'"],
    ["sin", { a: 1 }, "sin() got an unexpected keyword argument 'a'"],
  ])("%s refuses %j", (name, args, message) => {
    expect(() => run(name, args)).toThrow(CalculatorError);
    expect(() => run(name, args)).toThrow(message);
  });

  it("finds no calculator for names of object members", () => {
    for (const name of ["toString", "__proto__", "constructor", ""])
      expect(findCalculator(name)).toBeUndefined();
  });
});
