/**
 * Exact arithmetic on doubles: their binary parts, and correct rounding (half to even on the exact binary value).
 *
 * @module
 */

/** The parts of a finite double: `(-1)^negative * mantissa * 2^exponent`. */
export interface DoubleParts {
  negative: boolean;
  mantissa: bigint;
  exponent: number;
}

const view = new DataView(new ArrayBuffer(8));
const MIN_EXPONENT = -1074;
const MAX_EXPONENT = 971;
const PRECISION = 53;

/** Splits a finite double into its parts. The mantissa is odd or zero. */
export function doubleParts(value: number): DoubleParts {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  let mantissa = bits & 0xf_ffff_ffff_ffffn;
  let exponent = MIN_EXPONENT;
  if (biased > 0) {
    mantissa |= 1n << 52n;
    exponent += biased - 1;
  }
  const zeros = mantissa === 0n ? 0 : trailingZeros(mantissa);
  return { negative: bits >> 63n === 1n, mantissa: mantissa >> BigInt(zeros), exponent: exponent + zeros };
}

/** The number of binary digits of a non-negative integer. */
export function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

function trailingZeros(value: bigint): number {
  const binary = value.toString(2);
  return binary.length - 1 - binary.lastIndexOf("1");
}

/** The double nearest to `integer * 2^exponent`, ties to even. Overflows to infinity and underflows gradually. */
export function nearestDouble(integer: bigint, exponent: number): number {
  if (integer < 0n) return -nearestDouble(-integer, exponent);
  if (integer === 0n) return 0;
  const target = Math.max(bitLength(integer) + exponent - PRECISION, MIN_EXPONENT);
  const shift = target - exponent;
  const mantissa = shift <= 0 ? integer << BigInt(-shift) : divideHalfEven(integer, 1n << BigInt(shift));
  return target > MAX_EXPONENT ? Number.POSITIVE_INFINITY : Number(mantissa) * 2 ** target;
}

function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice > denominator || (twice === denominator && (quotient & 1n) === 1n)) return quotient + 1n;
  return quotient;
}

/** A finite, non-negative double as the exact fraction numerator / denominator. */
function exactFraction(magnitude: number): { numerator: bigint; denominator: bigint } {
  const { mantissa, exponent } = doubleParts(magnitude);
  return exponent >= 0
    ? { numerator: mantissa << BigInt(exponent), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-exponent) };
}

/** `abs(value)` with exactly `decimals` digits after the point, like Python's `f"{abs(value):.{decimals}f}"`. */
export function fixedDigits(value: number, decimals: number): string {
  const { numerator, denominator } = exactFraction(Math.abs(value));
  const digits = divideHalfEven(numerator * 10n ** BigInt(decimals), denominator).toString();
  if (decimals === 0) return digits;
  const padded = digits.padStart(decimals + 1, "0");
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}

/** Python's `round(value, digits)`: the decimal nearest to the exact binary value, ties to the even digit. */
export function pyRound(value: number, digits = 0): number {
  if (!Number.isFinite(value)) return value;
  const result = Number(fixedDigits(value, digits));
  return value < 0 || Object.is(value, -0) ? -result : result;
}

/** `count` significant digits of `abs(value)`, and the decimal exponent of the first one: d.ddd × 10^exponent. */
export function significantDigits(value: number, count: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: "0".repeat(count), exponent: 0 };
  const { numerator, denominator } = exactFraction(Math.abs(value));
  // The exponent of `toExponential(0)` is one too large where it rounds up, from 9.5 on. The right exponent is the first
  // that gives at most `count` digits.
  for (let exponent = Number(Math.abs(value).toExponential(0).split("e")[1]) - 1; ; exponent++) {
    const shift = count - 1 - exponent;
    const digits =
      shift >= 0
        ? divideHalfEven(numerator * 10n ** BigInt(shift), denominator)
        : divideHalfEven(numerator, denominator * 10n ** BigInt(-shift));
    if (String(digits).length <= count) return { digits: String(digits), exponent };
  }
}
