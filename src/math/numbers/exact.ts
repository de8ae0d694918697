import { BudgetError, spend } from "../budget.ts";
import { type Node, symbolKey } from "../expression/node.ts";
import { rationalFunction } from "./polynomial.ts";
import {
  add,
  compare,
  divide,
  equal,
  floor,
  fromNumber,
  gcd,
  isInteger,
  isZero,
  multiply,
  negate,
  ONE,
  power,
  type Rational,
  rational,
  root,
  subtract,
  toNumber,
  ZERO,
} from "./rational.ts";

export type RationalPoint = ReadonlyMap<string, Rational>;

/** Longer sums and products are not computed term by term. */
export const MAX_TERMS = 20_000;
const MAX_FACTORIAL = 2000n;
/** Squared factors of a factorial per step. */
const FACTORIAL_SQUARE = 4000;
const MAX_ROOT = 64n;
const NOWHERE: RationalPoint = new Map();

/**
 * The exact value of an expression whose symbols have the values of `point`. Undefined if it is not a rational number. Decimals
 * are exact.
 */
export function exactValue(node: Node, point: RationalPoint = NOWHERE): Rational | undefined {
  const value = (part: Node) => exactValue(part, point);
  spend();
  switch (node.kind) {
    case "number":
    case "float":
      return node.value;
    case "symbol":
      return point.get(symbolKey(node));
    case "percent": {
      const inner = value(node.value);
      return inner && divide(inner, rational(100n));
    }
    case "add":
    case "multiply": {
      const combine = node.kind === "add" ? add : multiply;
      let total = node.kind === "add" ? ZERO : ONE;
      for (const arg of node.args) {
        const next = value(arg);
        if (next === undefined) return undefined;
        total = combine(total, next);
      }
      return total;
    }
    case "power": {
      const base = value(node.base);
      const exponent = base && value(node.exponent);
      return base && exponent && rationalPower(base, exponent);
    }
    case "call": {
      if (node.name === "det" || node.name === "transpose") return undefined;
      const args: Rational[] = [];
      for (const arg of node.args) {
        const next = node.name === "log" && arg.kind === "constant" ? undefined : value(arg);
        if (next === undefined) return undefined;
        args.push(next);
      }
      return callValue(node.name, args);
    }
    case "bound":
      if (node.operator === "sum" || node.operator === "product") return series(node, point);
      return node.operator === "integral" && !node.from && !node.to ? antiderivative(node, point) : undefined;
    default:
      return undefined;
  }
}

function rationalPower(base: Rational, exponent: Rational): Rational | undefined {
  if (isInteger(exponent)) return power(base, exponent.n);
  if (exponent.d > MAX_ROOT || base.n < 0n) return undefined;
  if (isZero(base)) return exponent.n > 0n ? ZERO : undefined;
  const rootOfBase = root(base, Number(exponent.d));
  return rootOfBase && power(rootOfBase, exponent.n);
}

type Series = Extract<Node, { kind: "bound" }>;

function series(node: Series, point: RationalPoint): Rational | undefined {
  const from = node.from && exactValue(node.from, point);
  const to = node.to && exactValue(node.to, point);
  if (!from || !to || !isInteger(from) || !isInteger(to)) return undefined;
  if (to.n - from.n > BigInt(MAX_TERMS)) return longSum(node, from, to, point);
  const combine = node.operator === "sum" ? add : multiply;
  let total = node.operator === "sum" ? ZERO : ONE;
  const inside = new Map(point);
  for (let index = from.n; index <= to.n; index++) {
    inside.set(symbolKey(node.variable), rational(index));
    const term = exactValue(node.body, inside);
    if (term === undefined) return undefined;
    total = combine(total, term);
  }
  return total;
}

/** The indefinite integral of a polynomial, without a constant of integration. */
function antiderivative({ body, variable }: Series, point: RationalPoint): Rational | undefined {
  const key = symbolKey(variable);
  const x = point.get(key);
  const terms = rationalFunction(body, key);
  if (x === undefined || terms?.bottom.length !== 1) return undefined;
  const scale = terms.bottom[0] ?? ONE;
  const sum = terms.top.reduceRight(
    (total, value, index) => add(multiply(total, x), divide(value, rational(BigInt(index + 1)))),
    ZERO,
  );
  return divide(multiply(sum, x), scale);
}

/** The sum of a polynomial from its forward differences. Only the first few terms are computed. */
function longSum(
  { operator, body, variable }: Series,
  from: Rational,
  to: Rational,
  point: RationalPoint,
): Rational {
  const key = symbolKey(variable);
  const terms = operator === "sum" ? rationalFunction(body, key) : undefined;
  if (terms?.bottom.length !== 1) throw new BudgetError("A sum or product has too many terms.");
  let row = terms.top.map((_, index) =>
    exactValue(body, new Map(point).set(key, add(from, rational(BigInt(index))))),
  );
  const count = add(subtract(to, from), ONE);
  let total = ZERO;
  for (let order = 1n; row.length > 0; order++) {
    spend(row.length);
    const ways = binomial(count, rational(order));
    total = add(total, multiply(row[0] ?? ZERO, ways ?? ZERO));
    row = row.slice(1).map((value, index) => subtract(value ?? ZERO, row[index] ?? ZERO));
  }
  return total;
}

function callValue(name: string, args: readonly Rational[]): Rational | undefined {
  const [a = ZERO, b = ZERO] = args;
  switch (name) {
    case "abs":
      return a.n < 0n ? negate(a) : a;
    case "floor":
      return floor(a);
    case "ceiling":
      return negate(floor(negate(a)));
    case "factorial":
      return factorial(a);
    case "binomial":
      return binomial(a, b);
    case "mod":
      return isZero(b) ? undefined : subtract(a, multiply(b, floor(divide(a, b))));
    case "gcd":
      return args.every(isInteger) ? rational(args.reduce((total, { n }) => gcd(total, n), 0n)) : undefined;
    case "lcm":
      return args.every(isInteger) ? args.reduce(lcm) : undefined;
    case "max":
      return args.reduce((best, next) => (compare(next, best) > 0 ? next : best));
    case "min":
      return args.reduce((best, next) => (compare(next, best) < 0 ? next : best));
    case "log":
      return logarithm(a, b);
    case "degrees":
      return a;
    case "exp":
      return isZero(a) ? ONE : undefined;
    case "sin":
    case "tan":
    case "asin":
    case "atan":
    case "sinh":
    case "tanh":
    case "asinh":
    case "atanh":
      return isZero(a) ? ZERO : undefined;
    case "cos":
    case "cosh":
    case "sec":
      return isZero(a) ? ONE : undefined;
    default:
      return undefined;
  }
}

function lcm(a: Rational, b: Rational): Rational {
  const divisor = gcd(a.n, b.n);
  if (divisor === 0n) return ZERO;
  const product = (a.n / divisor) * b.n;
  return rational(product < 0n ? -product : product);
}

function factorial(a: Rational): Rational | undefined {
  if (!isInteger(a) || a.n < 0n) return undefined;
  if (a.n > MAX_FACTORIAL) throw new BudgetError("A factorial is too large.");
  // The cost of a product grows with its length.
  spend(Number(a.n) ** 2 / FACTORIAL_SQUARE);
  let product = 1n;
  for (let factor = 2n; factor <= a.n; factor++) product *= factor;
  return rational(product);
}

function binomial(n: Rational, k: Rational): Rational | undefined {
  if (!isInteger(k)) return undefined;
  if (k.n < 0n) return ZERO;
  const short = isInteger(n) && n.n >= k.n && n.n - k.n < k.n ? n.n - k.n : k.n;
  if (short > MAX_FACTORIAL) throw new BudgetError("A binomial coefficient is too large.");
  let result = ONE;
  for (let index = 0n; index < short; index++) {
    spend(2);
    result = divide(multiply(result, subtract(n, rational(index))), rational(index + 1n));
  }
  return result;
}

/** An exact logarithm p/q with `base^(p/q) = value` and small p and q. */
function logarithm(value: Rational, base: Rational): Rational | undefined {
  if (value.n <= 0n || base.n <= 0n || equal(base, ONE)) return undefined;
  if (equal(value, ONE)) return ZERO;
  const guess = Math.log(toNumber(value)) / Math.log(toNumber(base));
  for (let d = 1; d <= 6; d++) {
    const n = Math.round(guess * d);
    if (Math.abs(guess * d - n) > 1e-9 || Math.abs(n) > 4096) continue;
    const [left, right] = [power(value, BigInt(d)), power(base, BigInt(n))];
    if (left && right && equal(left, right)) return rational(BigInt(n), BigInt(d));
  }
  return undefined;
}

/** Like {@link exactValue}, but decimals are rounded to doubles after every step, as in floating-point programs. */
export function doubleValue(node: Node): Rational | undefined {
  const exact = (part: Node) => doubleValue(part);
  spend();
  switch (node.kind) {
    case "float":
      return node.digits > 15 ? node.value : fromNumber(toNumber(node.value));
    case "add":
    case "multiply": {
      const combine = node.kind === "add" ? add : multiply;
      let total: Rational | undefined;
      for (const arg of node.args) {
        const next = exact(arg);
        if (next === undefined) return undefined;
        total = total === undefined ? next : fromNumber(toNumber(combine(total, next)));
      }
      return total;
    }
    case "percent": {
      const inner = exact(node.value);
      return inner && fromNumber(toNumber(divide(inner, rational(100n))));
    }
    default:
      return exactValue(node);
  }
}
