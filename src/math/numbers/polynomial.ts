import { spend } from "../budget.ts";
import { type Node, symbolKey } from "../expression/node.ts";
import { add, divide, isZero, multiply, ONE, type Rational, rational, toNumber, ZERO } from "./rational.ts";

/** Coefficients by ascending power, without trailing zeros. */
type Polynomial = readonly Rational[];

/** A quotient of polynomials in one variable. */
interface RationalFunction {
  readonly top: Polynomial;
  readonly bottom: Polynomial;
}

const MAX_DEGREE = 40;
/** Terms of a polynomial that are evaluated in one step. */
const EVALUATED_TERMS = 64;

/** Converts an expression to a quotient of polynomials with rational coefficients. Undefined if it is not one. */
export function rationalFunction(node: Node, variable: string): RationalFunction | undefined {
  spend();
  switch (node.kind) {
    case "number":
    case "float":
      return { top: trimmed([node.value]), bottom: [ONE] };
    case "percent": {
      const value = rationalFunction(node.value, variable);
      return value && { ...value, top: value.top.map((part) => divide(part, rational(100n))) };
    }
    case "symbol":
      return symbolKey(node) === variable ? { top: [ZERO, ONE], bottom: [ONE] } : undefined;
    case "add":
    case "multiply": {
      const combine = node.kind === "add" ? sum : product;
      let total = node.args[0] && rationalFunction(node.args[0], variable);
      for (const arg of node.args.slice(1)) {
        const next = total && rationalFunction(arg, variable);
        total = total && next && combine(total, next);
        if (total === undefined) return undefined;
      }
      return total;
    }
    case "power": {
      if (node.exponent.kind !== "number" || node.exponent.value.d !== 1n) return undefined;
      return power(rationalFunction(node.base, variable), Number(node.exponent.value.n));
    }
    default:
      return undefined;
  }
}

function sum(a: RationalFunction, b: RationalFunction): RationalFunction | undefined {
  const [left, right, bottom] = [times(a.top, b.bottom), times(b.top, a.bottom), times(a.bottom, b.bottom)];
  return left && right && bottom && { top: plus(left, right), bottom };
}

function product(a: RationalFunction, b: RationalFunction): RationalFunction | undefined {
  const [top, bottom] = [times(a.top, b.top), times(a.bottom, b.bottom)];
  return top && bottom && { top, bottom };
}

function power(base: RationalFunction | undefined, exponent: number): RationalFunction | undefined {
  if (!base || Math.abs(exponent) > MAX_DEGREE) return undefined;
  const start = exponent < 0 ? { top: base.bottom, bottom: base.top } : base;
  let result: RationalFunction | undefined = { top: [ONE], bottom: [ONE] };
  for (let index = 0; index < Math.abs(exponent); index++) result = result && product(result, start);
  return result;
}

function plus(a: Polynomial, b: Polynomial): Polynomial {
  return trimmed(
    Array.from({ length: Math.max(a.length, b.length) }, (_, index) =>
      add(a[index] ?? ZERO, b[index] ?? ZERO),
    ),
  );
}

function times(a: Polynomial, b: Polynomial): Polynomial | undefined {
  if (a.length + b.length > MAX_DEGREE) return undefined;
  spend(a.length * b.length);
  const result: Rational[] = new Array(Math.max(0, a.length + b.length - 1)).fill(ZERO);
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) result[i + j] = add(result[i + j] ?? ZERO, multiply(x, y));
  }
  return trimmed(result);
}

function trimmed(values: readonly Rational[]): Polynomial {
  let { length } = values;
  while (length > 0 && isZero(values[length - 1] ?? ZERO)) length--;
  return values.slice(0, length);
}

/** The value of a polynomial whose coefficients are doubles. */
export function polynomialAt(coefficients: readonly number[], x: number): number {
  spend(coefficients.length / EVALUATED_TERMS);
  return coefficients.reduceRight((total, value) => total * x + value, 0);
}

/** The distinct real zeros. They are at the zeros of the derivative or between them. */
export function realRoots(coefficients: Polynomial): number[] {
  if (coefficients.length < 2) return [];
  if (coefficients.length === 2) return [-toNumber(divide(coefficients[0] ?? ZERO, coefficients[1] ?? ONE))];
  const turns = realRoots(
    trimmed(coefficients.slice(1).map((value, index) => multiply(value, rational(BigInt(index + 1))))),
  );
  const doubles = coefficients.map(toNumber);
  const bound = 1 + Math.max(...doubles.map((value) => Math.abs(value / (doubles.at(-1) ?? 1))));
  const ends = [-bound, ...turns, bound];
  const roots: number[] = [];
  for (const [index, to] of ends.slice(1).entries()) {
    const from = ends[index] as number;
    if (index > 0 && isRoot(doubles, from)) roots.push(nice(doubles, from));
    else if (polynomialAt(doubles, from) * polynomialAt(doubles, to) < 0 && !isRoot(doubles, to)) {
      roots.push(nice(doubles, bisect(doubles, from, to)));
    }
  }
  return roots;
}

/** Whether x is a zero, within the precision of doubles. */
function isRoot(coefficients: readonly number[], x: number): boolean {
  const size = coefficients.reduceRight((total, value) => total * Math.abs(x) + Math.abs(value), 0);
  return Math.abs(polynomialAt(coefficients, x)) <= 1e-13 * size;
}

function bisect(coefficients: readonly number[], from: number, to: number): number {
  let [low, high] = [from, to];
  const sign = Math.sign(polynomialAt(coefficients, from));
  for (let index = 0; index < 100 && high - low > 0; index++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (Math.sign(polynomialAt(coefficients, middle)) === sign) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Replaces a zero by the nearest whole number if that is a zero too. */
function nice(coefficients: readonly number[], x: number): number {
  const whole = Math.round(x);
  return Math.abs(whole - x) < 1e-9 * Math.max(1, Math.abs(x)) && isRoot(coefficients, whole) ? whole : x;
}
