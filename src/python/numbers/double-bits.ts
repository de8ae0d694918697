/** A finite double taken apart: `(-1)^negative * mantissa * 2^exponent`. */
export interface DoubleParts {
  negative: boolean;
  mantissa: bigint;
  exponent: number;
}

const view = new DataView(new ArrayBuffer(8));
const MIN_EXPONENT = -1074;
const MAX_EXPONENT = 971;
const PRECISION = 53;

/** Takes a finite double apart; the mantissa is odd, or zero. */
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

/** Number of binary digits of a non-negative integer. */
export function bitLength(value: bigint): number {
  const hex = value.toString(16);
  return value === 0n ? 0 : (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex.charAt(0), 16)));
}

function trailingZeros(value: bigint): number {
  let zeros = 0;
  let rest = value;
  while ((rest & 0xffffn) === 0n) {
    rest >>= 16n;
    zeros += 16;
  }
  const low = Number(rest & 0xffffn);
  return zeros + (31 - Math.clz32(low & -low));
}

/** The double nearest to `integer * 2^exponent`, ties to even; overflows to infinity, underflows gradually. */
export function nearestDouble(integer: bigint, exponent: number): number {
  if (integer < 0n) return -nearestDouble(-integer, exponent);
  if (integer === 0n) return 0;
  const target = Math.max(bitLength(integer) + exponent - PRECISION, MIN_EXPONENT);
  const shift = target - exponent;
  if (shift <= 0) return scale(integer << BigInt(-shift), target);
  const cut = BigInt(shift);
  let quotient = integer >> cut;
  const twiceRest = (integer - (quotient << cut)) << 1n;
  const unit = 1n << cut;
  if (twiceRest > unit || (twiceRest === unit && (quotient & 1n) === 1n)) quotient += 1n;
  return scale(quotient, target);
}

function scale(mantissa: bigint, exponent: number): number {
  return exponent > MAX_EXPONENT ? Number.POSITIVE_INFINITY : Number(mantissa) * 2 ** exponent;
}
