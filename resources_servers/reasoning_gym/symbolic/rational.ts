/** A fraction in lowest terms with a positive denominator. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

export function rational(n: bigint, d = 1n): Rational {
  if (d === 0n) throw new RangeError("division by zero");
  const divisor = gcd(n, d) * (d < 0n ? -1n : 1n);
  return divisor === 0n ? { n: 0n, d: 1n } : { n: n / divisor, d: d / divisor };
}

export const ZERO = rational(0n);
export const ONE = rational(1n);

export const add = (a: Rational, b: Rational): Rational => rational(a.n * b.d + b.n * a.d, a.d * b.d);
export const multiply = (a: Rational, b: Rational): Rational => rational(a.n * b.n, a.d * b.d);
export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d });
export const toNumber = ({ n, d }: Rational): number => Number(n) / Number(d);

/** Maximum exponent of integer powers; larger ones would only fill memory. */
const MAX_POWER = 1000n;

export function power(base: Rational, exponent: bigint): Rational {
  if (exponent > MAX_POWER || exponent < -MAX_POWER) throw new RangeError("the power is too large");
  if (exponent >= 0n) return { n: base.n ** exponent, d: base.d ** exponent };
  return rational(base.d ** -exponent, base.n ** -exponent);
}

/** Reads `3`, `3.25`, `1e3` exactly. */
export function parseRational(text: string): Rational {
  const match = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (match === null || (match[1] === "" && match[2] === "")) throw new RangeError(`${text} is not a number`);
  const [, whole = "", fraction = "", exponent = "0"] = match;
  return multiply(
    rational(BigInt(whole + fraction)),
    power(rational(10n), BigInt(Number(exponent) - fraction.length)),
  );
}
