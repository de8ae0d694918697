import { BudgetError, MAX_INTEGER_BITS, spend } from "../budget.ts";

/** An exact fraction in lowest terms with a positive denominator. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

export const ZERO: Rational = { n: 0n, d: 1n };
export const ONE: Rational = { n: 1n, d: 1n };

/** The limit is lower for fractions, because reducing them is slow. */
const MAX_FRACTION_BITS = 4096;
const LIMIT = 1n << BigInt(MAX_INTEGER_BITS);
/** Smaller numbers cost nothing extra. */
const WORD = 1n << 64n;
/** Bits of a product, and of the smaller operand of a common divisor, per step. */
const PRODUCT_BITS = 256;
const DIVISOR_BITS = 8;

export function rational(n: bigint, d = 1n): Rational {
  if (d === 1n) return { n: bounded(n), d };
  if (d === 0n) throw new RangeError("A fraction cannot have the denominator 0.");
  const divisor = gcd(n, d) * (d < 0n ? -1n : 1n);
  return { n: bounded(n / divisor), d: bounded(d / divisor) };
}

function bounded(value: bigint): bigint {
  if (isShort(value)) return value;
  if (value > LIMIT || value < -LIMIT) throw new BudgetError("An integer is too large.");
  spend(approximateBitLength(value) / PRODUCT_BITS);
  return value;
}

const isShort = (value: bigint) => value < WORD && value > -WORD;

/** Reads `12`, `.5`, `1.50` or `1.5E-3` exactly. */
export function parseDecimal(text: string): Rational {
  const [mantissa = "", exponent = "0"] = text.split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const power = Number(exponent) - fraction.length;
  if (whole.length + fraction.length + Math.abs(power) > MAX_INTEGER_BITS / 4) {
    throw new BudgetError("A number is too long.");
  }
  const digits = BigInt(whole + fraction || "0");
  return power >= 0 ? rational(digits * 10n ** BigInt(power)) : rational(digits, 10n ** BigInt(-power));
}

export function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  if (!isShort(x) && !isShort(y)) {
    const bits = Math.min(approximateBitLength(x), approximateBitLength(y));
    if (bits > MAX_FRACTION_BITS) throw new BudgetError("A fraction is too large.");
    spend(bits / DIVISOR_BITS);
  }
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

export const isInteger = (a: Rational): boolean => a.d === 1n;
export const isZero = (a: Rational): boolean => a.n === 0n;
export const equal = (a: Rational, b: Rational): boolean => a.n === b.n && a.d === b.d;
export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d });
export const add = (a: Rational, b: Rational): Rational =>
  a.d === 1n && b.d === 1n ? rational(a.n + b.n) : rational(a.n * b.d + b.n * a.d, a.d * b.d);
export const subtract = (a: Rational, b: Rational): Rational => add(a, negate(b));
export const multiply = (a: Rational, b: Rational): Rational => rational(a.n * b.n, a.d * b.d);
export const divide = (a: Rational, b: Rational): Rational => rational(a.n * b.d, a.d * b.n);

export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function floor(a: Rational): Rational {
  const quotient = a.n / a.d;
  return rational(a.n < 0n && quotient * a.d !== a.n ? quotient - 1n : quotient);
}

/** `base` to an integer power. Undefined for a negative power of 0. */
export function power(base: Rational, exponent: bigint): Rational | undefined {
  if (exponent < 0n) return isZero(base) ? undefined : power({ n: base.d, d: base.n }, -exponent);
  const bits = BigInt(Math.max(approximateBitLength(base.n), approximateBitLength(base.d)) - 1) * exponent;
  if (bits > BigInt(MAX_INTEGER_BITS)) throw new BudgetError("A power is too large.");
  spend(Number(bits) / PRODUCT_BITS);
  const n = base.n ** exponent;
  const d = base.d ** exponent;
  return d < 0n ? { n: -n, d: -d } : { n, d };
}

/** The exact `index`-th root of a non-negative fraction, if it exists. */
export function root(value: Rational, index: number): Rational | undefined {
  const n = integerRoot(value.n, index);
  const d = n === undefined ? undefined : integerRoot(value.d, index);
  return n === undefined || d === undefined ? undefined : { n, d };
}

function integerRoot(value: bigint, index: number): bigint | undefined {
  if (value < 2n) return value;
  const k = BigInt(index);
  let guess = 1n << BigInt(Math.floor(approximateBitLength(value) / index) + 1);
  for (;;) {
    spend(approximateBitLength(value) / PRODUCT_BITS + 1);
    const next = ((k - 1n) * guess + value / guess ** (k - 1n)) / k;
    if (next >= guess) return guess ** k === value ? guess : undefined;
    guess = next;
  }
}

export function approximateBitLength(value: bigint): number {
  return (value < 0n ? -value : value).toString(16).length * 4;
}

/** The nearest double. */
export function toNumber({ n, d }: Rational): number {
  if (d === 1n) return Number(n);
  if (n === 0n) return 0;
  // 66 bits and a sticky bit round like the whole quotient.
  const shift = approximateBitLength(d) - approximateBitLength(n) + 70;
  const [top, bottom] = shift >= 0 ? [n << BigInt(shift), d] : [n, d << BigInt(-shift)];
  const quotient = top / bottom;
  const sticky = quotient * bottom === top ? 0n : n < 0n ? -1n : 1n;
  return scale(Number(quotient * 2n + sticky), -shift - 1);
}

/** `value * 2^exponent` without intermediate overflow or underflow. */
function scale(value: number, exponent: number): number {
  if (exponent > 1000) return scale(value * 2 ** 1000, exponent - 1000);
  if (exponent < -1000) return scale(value * 2 ** -1000, exponent + 1000);
  return value * 2 ** exponent;
}

/** The exact value of a finite double. */
export function fromNumber(value: number): Rational {
  if (!Number.isFinite(value)) throw new BudgetError("A number is too large for a double.");
  let scaled = value;
  let shift = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    shift++;
  }
  return rational(BigInt(scaled), 1n << BigInt(shift));
}

/** Rounds to `digits` decimals, half to even, like Python's `round`. */
export function round(value: Rational, digits: number): Rational {
  const scale = 10n ** BigInt(digits);
  const scaled = rational(value.n * scale, value.d);
  const below = floor(scaled).n;
  const rest = compare(subtract(scaled, rational(below)), { n: 1n, d: 2n });
  const up = rest > 0 || (rest === 0 && below % 2n !== 0n);
  return rational(up ? below + 1n : below, scale);
}

export function rationalText({ n, d }: Rational): string {
  return d === 1n ? n.toString() : `${n}/${d}`;
}
