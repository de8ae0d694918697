import { describe, expect, it } from "vitest";
import { canonicalText } from "./canonical.ts";
import { evaluateNumber, isDerivative } from "./evaluate.ts";
import { ExpressionError, parseExpression } from "./parse-expression.ts";

const canonical = (text: string) => canonicalText(parseExpression(text));

describe("canonicalText", () => {
  it.each([
    ["x + y", "y + x"],
    ["2*x + 3*x", "5*x"],
    ["x*x**2", "x**3"],
    ["2*(x + 1)", "2*x + 2"],
    ["(2*x)**2", "4*x**2"],
    ["x - x", "0"],
    ["x/2", "x*1/2"],
    ["-x**2", "-(x**2)"],
    ["exp(x + y)", "exp(y + x)"],
    ["x**(1 + n)", "x**(n + 1)"],
  ])("%s is %s", (left, right) => {
    expect(canonical(left)).toBe(canonical(right));
  });

  it.each([
    ["x*(x + 1)", "x**2 + x"],
    ["(x + 1)**2", "x**2 + 2*x + 1"],
    ["x", "X"],
    ["2.0*x", "2*x"],
    ["x**2", "x**3"],
  ])("%s is not %s", (left, right) => {
    expect(canonical(left)).not.toBe(canonical(right));
  });
});

describe("evaluateNumber", () => {
  it.each([
    ["2 + 3*4", 14],
    ["(1/3 + 1/3 + 1/3)", 1],
    ["-2**2", -4],
    ["2**-1", 0.5],
    ["4!", 24],
    ["sqrt(16)", 4],
  ])("%s is %d", (text, value) => {
    expect(evaluateNumber(parseExpression(text))).toBeCloseTo(value, 9);
  });

  it("returns no number for values that are not real", () => {
    expect(evaluateNumber(parseExpression("sqrt(-1)"))).toBeNaN();
  });

  it("refuses expressions without a value", () => {
    for (const text of ["x", "1/0", "foo(2)", "10**100000"])
      expect(() => evaluateNumber(parseExpression(text))).toThrow();
  });
});

describe("isDerivative", () => {
  it.each([
    ["x*log(x) - x", "log(x)", true],
    ["sin(x)**2", "2*sin(x)*cos(x)", true],
    ["sin(x)**2 + 7", "sin(2*x)", true],
    ["atan(x)", "1/(x**2 + 1)", true],
    ["2**x", "2**x*log(2)", true],
    ["asin(3*x)/3", "1/sqrt(1 - 9*x**2)", true],
    ["tan(x)", "1/cos(x)", false],
    ["x**2", "x", false],
  ])("of %s is %s: %s", (antiderivative, integrand, right) => {
    expect(isDerivative(parseExpression(antiderivative), parseExpression(integrand), "x")).toBe(right);
  });
});

describe("parseExpression", () => {
  it.each(["", "1 +", "(1", "1)", "2x", "x y", "1\n+ 2", "01", "x ^ 2", "f(1, 2)", "x == y", "x and y"])(
    "refuses %j",
    (text) => {
      expect(() => parseExpression(text)).toThrow(ExpressionError);
    },
  );

  it("reads lines inside parentheses", () => {
    expect(evaluateNumber(parseExpression("(1\n+\n2)"))).toBe(3);
  });
});
