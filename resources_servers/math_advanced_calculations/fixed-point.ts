/**
 * Elementary functions in fixed-point arithmetic on big integers: a number is `integer / 2^bits`.
 * The error of every function is far below 2^`GUARD_BITS` units in the last place.
 *
 * @module
 */
import { bitLength } from "nemo-gym/python";

/** Extra bits that callers carry, so that rounding errors never reach the bits they use. */
export const GUARD_BITS = 40;

const constants = { pi: new Map<number, bigint>(), ln2: new Map<number, bigint>() };
const CONSTANT_STEP = 256;

/** π with `bits` fractional bits. */
function fixedPi(bits: number): bigint {
  return constant("pi", bits, (wide) => (4n * arcSeries(5n, wide, -1n) - arcSeries(239n, wide, -1n)) << 2n);
}

/** ln 2 with `bits` fractional bits. */
function fixedLn2(bits: number): bigint {
  return constant(
    "ln2",
    bits,
    (wide) =>
      18n * arcSeries(26n, wide, 1n) - 2n * arcSeries(4801n, wide, 1n) + 8n * arcSeries(8749n, wide, 1n),
  );
}

/** Rounds precisions up, so that only few of them are computed and cached. */
function constant(name: keyof typeof constants, bits: number, compute: (wide: number) => bigint): bigint {
  const wide = Math.ceil((bits + GUARD_BITS) / CONSTANT_STEP) * CONSTANT_STEP;
  let value = constants[name].get(wide);
  if (value === undefined) {
    value = compute(wide);
    constants[name].set(wide, value);
  }
  return value >> BigInt(wide - bits);
}

/** atan(1/n) for sign -1, atanh(1/n) for sign 1. */
function arcSeries(n: bigint, bits: number, sign: 1n | -1n): bigint {
  const square = n * n;
  let power = (1n << BigInt(bits)) / n;
  let sum = power;
  for (let divisor = 3n; power !== 0n; divisor += 2n) {
    power = (power / square) * sign;
    sum += power / divisor;
  }
  return sum;
}

/** e^x as `[integer, exponent]`, meaning `integer / 2^bits * 2^exponent` with the first factor near 1. */
export function fixedExp(x: bigint, bits: number): [bigint, number] {
  const shift = BigInt(bits);
  const ln2 = fixedLn2(bits);
  const exponent = floorDivide(2n * x + ln2, 2n * ln2);
  // ln 2 has extra bits, so that subtracting a multiple of it does not lose precision.
  const extra = bitLength(exponent < 0n ? -exponent : exponent) + 1;
  const rest = ((x << BigInt(extra)) - exponent * fixedLn2(bits + extra)) >> BigInt(extra);
  const halvings = 8n;
  let term = 1n << shift;
  let sum = term;
  const small = rest >> halvings;
  for (let n = 1n; term !== 0n && term !== -1n; n += 1n) {
    term = (term * small) / (n << shift);
    sum += term;
  }
  for (let i = 0n; i < halvings; i += 1n) sum = (sum * sum) >> shift;
  return [sum, Number(exponent)];
}

/** ln(mantissa * 2^exponent) for a positive mantissa. */
export function fixedLog(mantissa: bigint, exponent: number, bits: number): bigint {
  const shift = BigInt(bits);
  const length = bitLength(mantissa);
  // The argument is written as m * 2^k with m in [1/2, 1) or, to keep results near 1 free of cancellation, [3/4, 3/2).
  let binary = exponent + length;
  let scaled = shiftBy(mantissa, bits - length);
  if (scaled < 3n << (shift - 2n)) {
    scaled <<= 1n;
    binary -= 1;
  }
  // After a double-precision estimate the quotient is within 2^-48 of 1, and its logarithm is a short series.
  const guess = shiftBy(
    BigInt(Math.round(Math.log(Number(scaled >> (shift - 60n)) / 2 ** 60) * 2 ** 52)),
    bits - 52,
  );
  const [inverse, power] = fixedExp(-guess, bits);
  const quotient = shiftBy(scaled * inverse, power - bits);
  const one = 1n << shift;
  const ratio = ((quotient - one) << shift) / (quotient + one);
  const square = (ratio * ratio) >> shift;
  let term = ratio;
  let sum = ratio;
  for (let divisor = 3n; term !== 0n && term !== -1n; divisor += 2n) {
    term = (term * square) >> shift;
    sum += term / divisor;
  }
  const whole = BigInt(binary);
  return guess + 2n * sum + ((whole * fixedLn2(bits + 16)) >> 16n);
}

/** [sin x, cos x] for `x = mantissa * 2^exponent`. */
export function fixedSinCos(mantissa: bigint, exponent: number, bits: number): [bigint, bigint] {
  // Reduction by π/2 needs as many bits of π as the argument has before the binary point.
  const wide = bits + Math.max(0, bitLength(mantissa) + exponent);
  const x = shiftBy(mantissa, exponent + wide);
  const half = fixedPi(wide) >> 1n;
  const quadrant = floorDivide(2n * x + half, 2n * half);
  const rest = (x - quadrant * half) >> BigInt(wide - bits);
  const [sine, cosine] = smallSinCos(rest, bits);
  const turn = Number(quadrant & 3n);
  if (turn === 0) return [sine, cosine];
  if (turn === 1) return [cosine, -sine];
  if (turn === 2) return [-sine, -cosine];
  return [-cosine, sine];
}

function smallSinCos(x: bigint, bits: number): [bigint, bigint] {
  const shift = BigInt(bits);
  const square = (x * x) >> shift;
  let sine = x;
  let cosine = 1n << shift;
  let sineTerm = x;
  let cosineTerm = cosine;
  for (let n = 1n; cosineTerm !== 0n; n += 1n) {
    cosineTerm = -(cosineTerm * square) / (((2n * n - 1n) * 2n * n) << shift);
    sineTerm = -(sineTerm * square) / ((2n * n * (2n * n + 1n)) << shift);
    cosine += cosineTerm;
    sine += sineTerm;
  }
  return [sine, cosine];
}

/** `value * 2^places`, rounded down. */
function shiftBy(value: bigint, places: number): bigint {
  return places >= 0 ? value << BigInt(places) : value >> BigInt(-places);
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}
