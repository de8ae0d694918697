/**
 * Correctly rounded elementary functions. `Math.sin` and related functions are off by one unit in the last place for a few per
 * cent of arguments. Results computed with the C library are compared bit for bit, so this would be a mismatch.
 *
 * Method: evaluate with extra bits; if the error bound leaves two candidates, use more bits (Ziv's strategy).
 *
 * @module
 */
import { bitLength, doubleParts, nearestDouble } from "nemo-gym/python";
import { fixedExp, fixedLog, fixedSinCos, GUARD_BITS } from "./fixed-point.ts";

/** Bits of the first attempt; it fails to determine the rounding with a probability of about 2^-40. */
const FIRST_PRECISION = 100;
/** `2^GUARD_BITS` units of the guarded value bound the error of every fixed-point function. */
const ERROR = 1n << BigInt(GUARD_BITS);

/** A value `integer * 2^exponent`, exact up to `ERROR` units of the integer. */
type Approximation = [integer: bigint, exponent: number];

function roundCorrectly(approximate: (precision: number) => Approximation): number {
  for (let precision = FIRST_PRECISION; ; precision *= 2) {
    const [integer, exponent] = approximate(precision);
    const low = nearestDouble(integer - ERROR, exponent);
    if (low === nearestDouble(integer + ERROR, exponent)) return low;
  }
}

/** Fractional bits that leave `precision` significant bits in a result of about the size of `estimate`. */
function fractionBits(precision: number, estimate: number): number {
  const magnitude = estimate === 0 ? 64 : Math.max(0, -Math.floor(Math.log2(Math.abs(estimate))));
  return precision + magnitude + GUARD_BITS;
}

function sinOrCos(x: number, index: 0 | 1, estimate: number): number {
  const { negative, mantissa, exponent } = doubleParts(x);
  const value = roundCorrectly((precision) => {
    const bits = fractionBits(precision, estimate);
    return [fixedSinCos(mantissa, exponent, bits)[index], -bits];
  });
  return negative && index === 0 ? -value : value;
}

/** sin x, correctly rounded. */
export function exactSin(x: number): number {
  if (!Number.isFinite(x)) return Number.NaN;
  // Below this bound x^3/6 is less than half a unit in the last place of x.
  return Math.abs(x) < 2 ** -26 ? x : sinOrCos(x, 0, Math.sin(x));
}

/** cos x, correctly rounded. */
export function exactCos(x: number): number {
  if (!Number.isFinite(x)) return Number.NaN;
  return Math.abs(x) < 2 ** -27 ? 1 : sinOrCos(x, 1, Math.cos(x));
}

/** e^x, correctly rounded. */
export function exactExp(x: number): number {
  if (!Number.isFinite(x) || x > 710 || x < -746) return Math.exp(x);
  if (Math.abs(x) < 2 ** -55) return 1;
  const { negative, mantissa, exponent } = doubleParts(x);
  const signed = negative ? -mantissa : mantissa;
  return roundCorrectly((precision) => {
    const bits = precision + GUARD_BITS;
    const places = exponent + bits;
    const [integer, power] = fixedExp(
      places >= 0 ? signed << BigInt(places) : signed >> BigInt(-places),
      bits,
    );
    return [integer, power - bits];
  });
}

/** The natural logarithm, correctly rounded. */
export function exactLog(x: number): number {
  if (!(x > 0) || x === Number.POSITIVE_INFINITY || x === 1) return Math.log(x);
  const { mantissa, exponent } = doubleParts(x);
  return roundCorrectly((precision) => {
    const bits = fractionBits(precision, Math.log(x));
    return [fixedLog(mantissa, exponent, bits), -bits];
  });
}

/** base^exponent, correctly rounded; special values as in IEEE 754 and C, so `exactPow(1, NaN)` is 1. */
export function exactPow(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1;
  if (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY) return 1;
  if (!Number.isFinite(base) || !Number.isFinite(exponent) || base === 0) return base ** exponent;
  if (base < 0) {
    if (!Number.isInteger(exponent)) return Number.NaN;
    const magnitude = exactPow(-base, exponent);
    return Math.abs(exponent) < 2 ** 53 && exponent % 2 !== 0 ? -magnitude : magnitude;
  }
  const size = Math.log2(base) * exponent;
  if (size > 1025) return Number.POSITIVE_INFINITY;
  if (size < -1080) return 0;
  if (Math.abs(size) < 2 ** -56) return 1;
  return exactlyRepresentablePower(base, exponent) ?? transcendentalPower(base, exponent);
}

function transcendentalPower(base: number, exponent: number): number {
  const b = doubleParts(base);
  const e = doubleParts(exponent);
  const factor = e.negative ? -e.mantissa : e.mantissa;
  // The error of the logarithm is multiplied by the exponent.
  const lost = Math.max(0, bitLength(e.mantissa) + e.exponent) + Math.max(0, -e.exponent);
  return roundCorrectly((precision) => {
    const bits = precision + GUARD_BITS;
    const wide = bits + lost;
    const product = fixedLog(b.mantissa, b.exponent, wide) * factor;
    const places = e.exponent + bits - wide;
    const [integer, power] = fixedExp(
      places >= 0 ? product << BigInt(places) : product >> BigInt(-places),
      bits,
    );
    return [integer, power - bits];
  });
}

/**
 * Powers that are doubles, or lie exactly between two doubles, so that no precision could decide: an odd integer to a whole power
 * with at most 54 bits, times a power of two. For a fractional exponent the root is taken first.
 */
function exactlyRepresentablePower(base: number, exponent: number): number | undefined {
  let { mantissa, exponent: binary } = doubleParts(base);
  const parts = doubleParts(exponent);
  for (let roots = -parts.exponent; roots > 0; roots--) {
    const root = BigInt(Math.round(Math.sqrt(Number(mantissa))));
    if (root * root !== mantissa || binary % 2 !== 0) return undefined;
    mantissa = root;
    binary /= 2;
  }
  const whole = Number(parts.mantissa) * 2 ** Math.max(0, parts.exponent);
  if (mantissa === 1n) return nearestDouble(1n, binary * (parts.negative ? -whole : whole));
  if (parts.negative || (bitLength(mantissa) - 1) * whole > 54) return undefined;
  const power = mantissa ** BigInt(whole);
  return bitLength(power) <= 54 ? nearestDouble(power, binary * whole) : undefined;
}
