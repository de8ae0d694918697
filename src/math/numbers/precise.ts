/**
 * Real constants to about 60 digits, in binary fixed point. Doubles cannot distinguish `\pi\cdot 10^{20}` and `\pi\cdot 10^{20}+1`.
 *
 * @module
 */
import { BudgetError, isExhausted, spend } from "../budget.ts";
import type { Node } from "../expression/node.ts";
import { exactValue } from "./exact.ts";
import { approximateBitLength } from "./rational.ts";

const BITS = 256n;
const UNIT = 1n << BITS;
/** Results are exact to this number of bits relative to the largest number in the computation. */
const TRUSTED_BITS = 200n;
/** Larger powers of e are not computed here. */
const MAX_EXPONENT = 4096n * UNIT;

/** Whether two expressions without symbols differ. Undefined if one of them cannot be computed here. */
export function differPrecisely(a: Node, b: Node): boolean | undefined {
  const work = new PreciseEvaluation();
  const [x, y] = [work.value(a), work.value(b)];
  if (x === undefined || y === undefined) return undefined;
  return magnitude(x - y) > work.peak >> TRUSTED_BITS;
}

const magnitude = (value: bigint) => (value < 0n ? -value : value);
const times = (a: bigint, b: bigint) => (a * b) >> BITS;
const over = (a: bigint, b: bigint) => (a << BITS) / b;

class PreciseEvaluation {
  /** The largest number so far. Errors are relative to it. */
  peak = UNIT;

  value(node: Node): bigint | undefined {
    spend(20);
    const value = this.#compute(node);
    if (value === undefined) return undefined;
    spend(Math.ceil(approximateBitLength(value) / 64));
    return this.#noted(value);
  }

  #compute(node: Node): bigint | undefined {
    if (node.kind === "constant")
      return node.name === "pi" ? PI() : node.name === "e" ? exp(UNIT) : undefined;
    const exact = exactly(node);
    if (exact) return (exact.n << BITS) / exact.d;
    switch (node.kind) {
      case "add":
      case "multiply": {
        const parts = node.args.map((arg) => this.value(arg));
        return parts.reduce((total, part) =>
          total === undefined || part === undefined
            ? undefined
            : node.kind === "add"
              ? total + part
              : times(total, part),
        );
      }
      case "power":
        return this.#power(node.base, node.exponent);
      case "call": {
        const [first, second] = node.args.map((arg) => this.value(arg));
        return first === undefined ? undefined : call(node.name, first, second);
      }
      default:
        return undefined;
    }
  }

  #power(baseNode: Node, exponentNode: Node): bigint | undefined {
    const base = this.value(baseNode);
    if (base === undefined) return undefined;
    const exact = exactly(exponentNode);
    if (exact?.d === 1n && magnitude(exact.n) <= 64n) {
      if (base === 0n && exact.n <= 0n) return undefined;
      let result = UNIT;
      for (let index = 0n; index < magnitude(exact.n); index++) result = this.#noted(times(result, base));
      return exact.n < 0n ? (result === 0n ? undefined : over(UNIT, result)) : result;
    }
    if (base <= 0n) return undefined;
    if (exact?.n === 1n && exact.d === 2n) return squareRoot(base);
    const exponent = this.value(exponentNode);
    const logarithm = log(base);
    return exponent === undefined || logarithm === undefined ? undefined : exp(times(exponent, logarithm));
  }

  #noted(value: bigint): bigint {
    if (magnitude(value) > this.peak) this.peak = magnitude(value);
    return value;
  }
}

function exactly(node: Node) {
  try {
    return exactValue(node);
  } catch (error) {
    if (error instanceof RangeError || (error instanceof BudgetError && !isExhausted())) return undefined;
    throw error;
  }
}

function call(name: string, a: bigint, b: bigint | undefined): bigint | undefined {
  switch (name) {
    case "exp":
      return exp(a);
    case "log": {
      const [top, bottom] = [log(a), b === undefined ? UNIT : log(b)];
      return top === undefined || !bottom ? undefined : over(top, bottom);
    }
    case "sin":
      return sine(a);
    case "cos":
      return sine(a + PI() / 2n);
    case "tan": {
      const cosine = sine(a + PI() / 2n);
      return magnitude(cosine) < 1n << 64n ? undefined : over(sine(a), cosine);
    }
    case "atan":
      return arcTangent(a);
    case "abs":
      return magnitude(a);
    default:
      return undefined;
  }
}

function squareRoot(value: bigint): bigint {
  const target = value << BITS;
  let guess = 1n << BigInt(Math.ceil(approximateBitLength(target) / 2) + 1);
  for (;;) {
    const next = (guess + target / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** Halves the argument until the series converges fast, then squares the result the same number of times. */
function exp(x: bigint): bigint | undefined {
  if (x > MAX_EXPONENT) return undefined;
  if (x < 0n) {
    const inverse = exp(-x);
    return inverse && over(UNIT, inverse);
  }
  const halvings = BigInt(Math.max(0, approximateBitLength(x) - Number(BITS) + 8));
  const reduced = x >> halvings;
  let term = UNIT;
  let sum = UNIT;
  for (let index = 1n; term > 0n; index++) {
    term = times(term, reduced) / index;
    sum += term;
  }
  for (let index = 0n; index < halvings; index++) sum = times(sum, sum);
  return sum;
}

/** Splits x into `m 2^k` with m near 1. The logarithm of m is a series of the inverse hyperbolic tangent. */
function log(x: bigint): bigint | undefined {
  if (x <= 0n) return undefined;
  const shift = BigInt(x.toString(2).length) - BITS - 1n;
  const mantissa = shift >= 0n ? x >> shift : x << -shift;
  return 2n * inverseTangent(over(mantissa - UNIT, mantissa + UNIT), 1n) + shift * LOG2();
}

/** The power series `x + s x^3/3 + x^5/5 + …`, whose signs alternate for s = -1. */
function inverseTangent(x: bigint, sign: 1n | -1n): bigint {
  const square = times(x, x);
  let power = x;
  let sum = 0n;
  for (let index = 1n, s = 1n; power !== 0n; index += 2n, s *= sign) {
    sum += (s * power) / index;
    // Shifts round towards minus infinity, so -1 would never become 0.
    power = magnitude(power) <= 1n ? 0n : times(power, square);
  }
  return sum;
}

function arcTangent(x: bigint): bigint {
  if (magnitude(x) <= UNIT >> 3n) return inverseTangent(x, -1n);
  // atan(x) = 2 atan(x / (1 + sqrt(1 + x^2)))
  return 2n * arcTangent(over(x, UNIT + squareRoot(UNIT + times(x, x))));
}

function sine(angle: bigint): bigint {
  const turn = 2n * PI();
  let x = angle % turn;
  if (x > PI()) x -= turn;
  if (x < -PI()) x += turn;
  let term = x;
  let sum = x;
  for (let index = 2n; magnitude(term) > 1n; index += 2n) {
    term = -times(times(term, x), x) / (index * (index + 1n));
    sum += term;
  }
  return sum;
}

const PI = once(() => 16n * inverseTangent(UNIT / 5n, -1n) - 4n * inverseTangent(UNIT / 239n, -1n));
const LOG2 = once(() => 2n * inverseTangent(UNIT / 3n, 1n));

function once(compute: () => bigint): () => bigint {
  let value: bigint | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}
