import * as c from "./complex.ts";
import type { Expression } from "./parse-expression.ts";
import { add, multiply, power, type Rational, rational, toNumber } from "./rational.ts";

/** A value and its derivative. */
interface Dual {
  value: c.Complex;
  slope: c.Complex;
}

const ONE = c.complex(1);
const ZERO = c.complex(0);
const negative = (a: c.Complex) => c.minus(ZERO, a);
const square = (a: c.Complex) => c.times(a, a);
const tan = (a: c.Complex) => c.over(c.sin(a), c.cos(a));

/** Functions with their derivatives. */
const FUNCTIONS: Readonly<
  Record<string, readonly [value: (x: c.Complex) => c.Complex, slope: (x: c.Complex) => c.Complex]>
> = {
  exp: [c.exp, c.exp],
  log: [c.log, (x) => c.over(ONE, x)],
  ln: [c.log, (x) => c.over(ONE, x)],
  sqrt: [c.sqrt, (x) => c.over(c.complex(0.5), c.sqrt(x))],
  sin: [c.sin, c.cos],
  cos: [c.cos, (x) => negative(c.sin(x))],
  tan: [tan, (x) => c.over(ONE, square(c.cos(x)))],
  sec: [(x) => c.over(ONE, c.cos(x)), (x) => c.over(c.sin(x), square(c.cos(x)))],
  csc: [(x) => c.over(ONE, c.sin(x)), (x) => negative(c.over(c.cos(x), square(c.sin(x))))],
  cot: [(x) => c.over(ONE, tan(x)), (x) => negative(c.over(ONE, square(c.sin(x))))],
  asin: [c.asin, (x) => c.over(ONE, c.sqrt(c.minus(ONE, square(x))))],
  acos: [c.acos, (x) => negative(c.over(ONE, c.sqrt(c.minus(ONE, square(x)))))],
  atan: [c.atan, (x) => c.over(ONE, c.plus(ONE, square(x)))],
  sinh: [c.sinh, c.cosh],
  cosh: [c.cosh, c.sinh],
  tanh: [(x) => c.over(c.sinh(x), c.cosh(x)), (x) => c.over(ONE, square(c.cosh(x)))],
};

const CONSTANTS: Readonly<Record<string, c.Complex>> = {
  pi: c.complex(Math.PI),
  E: c.complex(Math.E),
  I: c.complex(0, 1),
};

/** Represents the unknown value of an integral; its derivative is known. */
const UNKNOWN = c.complex(0.7391, 0.2217);

/** The value and the derivative with respect to one variable, with given values of all names. */
function evaluateDual(expression: Expression, variable: string, values: (name: string) => c.Complex): Dual {
  const go = (inner: Expression): Dual => {
    switch (inner.kind) {
      case "number":
        return { value: c.complex(toNumber(inner.value)), slope: ZERO };
      case "symbol":
        if (inner.name === variable) return { value: values(variable), slope: ONE };
        return { value: CONSTANTS[inner.name] ?? values(inner.name), slope: ZERO };
      case "sum": {
        const [a, b] = [go(inner.left), go(inner.right)];
        return { value: c.plus(a.value, b.value), slope: c.plus(a.slope, b.slope) };
      }
      case "product": {
        const [a, b] = [go(inner.left), go(inner.right)];
        const slope = c.plus(c.times(a.slope, b.value), c.times(a.value, b.slope));
        return { value: c.times(a.value, b.value), slope };
      }
      case "quotient": {
        const [a, b] = [go(inner.left), go(inner.right)];
        const top = c.minus(c.times(a.slope, b.value), c.times(a.value, b.slope));
        return { value: c.over(a.value, b.value), slope: c.over(top, square(b.value)) };
      }
      case "power":
        return powerDual(go(inner.base), go(inner.exponent));
      case "call": {
        const rule = Object.hasOwn(FUNCTIONS, inner.name) ? FUNCTIONS[inner.name] : undefined;
        if (rule === undefined) throw new RangeError(`the function ${inner.name} is not known`);
        const argument = go(inner.argument);
        return { value: rule[0](argument.value), slope: c.times(rule[1](argument.value), argument.slope) };
      }
      case "integral":
        if (inner.variable !== variable) throw new RangeError("an integral by another variable");
        return { value: UNKNOWN, slope: go(inner.integrand).value };
    }
  };
  return go(expression);
}

const isZero = (a: c.Complex) => a.re === 0 && a.im === 0;

function powerDual(base: Dual, exponent: Dual): Dual {
  const value = c.power(base.value, exponent.value);
  const lower = c.power(base.value, c.minus(exponent.value, ONE));
  const byBase = isZero(base.slope) ? ZERO : c.times(c.times(exponent.value, lower), base.slope);
  const byExponent = isZero(exponent.slope)
    ? ZERO
    : c.times(c.times(value, c.log(base.value)), exponent.slope);
  return { value, slope: c.plus(byBase, byExponent) };
}

const MAX_FACTORIAL = 200n;

/** The exact value of an expression without names; undefined if it is not rational. */
function evaluateExactly(expression: Expression): Rational | undefined {
  switch (expression.kind) {
    case "number":
      return expression.value;
    case "sum":
    case "product":
    case "quotient": {
      const [a, b] = [evaluateExactly(expression.left), evaluateExactly(expression.right)];
      if (a === undefined || b === undefined) return undefined;
      if (expression.kind === "sum") return add(a, b);
      return multiply(a, expression.kind === "product" ? b : rational(b.d, b.n));
    }
    case "power": {
      const [a, b] = [evaluateExactly(expression.base), evaluateExactly(expression.exponent)];
      return a === undefined || b === undefined || b.d !== 1n ? undefined : power(a, b.n);
    }
    case "call": {
      const argument = evaluateExactly(expression.argument);
      if (expression.name !== "factorial" || argument === undefined || argument.d !== 1n) return undefined;
      if (argument.n < 0n || argument.n > MAX_FACTORIAL) return undefined;
      let product = 1n;
      for (let factor = 2n; factor <= argument.n; factor++) product *= factor;
      return rational(product);
    }
    case "symbol":
    case "integral":
      return undefined;
  }
}

/** The value of a numeric expression; NaN if it is not real. */
export function evaluateNumber(expression: Expression): number {
  const exact = evaluateExactly(expression);
  if (exact !== undefined) return toNumber(exact);
  const { re, im } = evaluateDual(expression, "", () => {
    throw new RangeError("the expression has names in it");
  }).value;
  return Math.abs(im) <= 1e-9 * Math.max(1, Math.abs(re)) ? re : Number.NaN;
}

/** Points off the real axis, away from the branch cuts of roots and logarithms. */
const POINTS: readonly c.Complex[] = [
  [0.137, 0.211],
  [0.731, -0.353],
  [-0.419, 0.577],
  [1.613, 0.271],
  [-1.277, -0.689],
  [2.339, 0.443],
  [3.117, -0.127],
  [-2.741, 0.319],
].map(([re = 0, im = 0]) => c.complex(re, im));
const NEEDED = 4;
const CLOSE = 1e-7;

const isDefined = (a: c.Complex) => Number.isFinite(a.re) && Number.isFinite(a.im);

/** Whether the derivative of one expression with respect to a variable equals the other, tested at fixed points. */
export function isDerivative(antiderivative: Expression, integrand: Expression, variable: string): boolean {
  let agreed = 0;
  for (const point of POINTS) {
    const values = (name: string) =>
      name === variable ? point : c.complex(0.5 + 0.61 * ((name.codePointAt(0) ?? 0) % 7));
    const { slope } = evaluateDual(antiderivative, variable, values);
    const { value } = evaluateDual(integrand, variable, values);
    if (!isDefined(slope) || !isDefined(value)) continue;
    if (c.size(c.minus(slope, value)) > CLOSE * Math.max(1e-3, c.size(slope), c.size(value))) return false;
    agreed++;
  }
  return agreed >= NEEDED;
}
