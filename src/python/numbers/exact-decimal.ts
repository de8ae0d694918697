/**
 * Decimal text of doubles with correct rounding (half to even on the exact binary value), as Python's `format` does.
 *
 * @module
 */
import { doubleParts } from "./double-bits.ts";

/** A finite magnitude as the exact fraction numerator / denominator. */
function exactFraction(magnitude: number): { numerator: bigint; denominator: bigint } {
  const { mantissa, exponent } = doubleParts(magnitude);
  return exponent >= 0
    ? { numerator: mantissa << BigInt(exponent), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-exponent) };
}

function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice > denominator || (twice === denominator && (quotient & 1n) === 1n)) return quotient + 1n;
  return quotient;
}

/** `abs(value)` with exactly `decimals` digits after the point, like Python's `f"{value:.{decimals}f}"` without the sign. */
export function fixedDigits(value: number, decimals: number): string {
  const { numerator, denominator } = exactFraction(Math.abs(value));
  const digits = divideHalfEven(numerator * 10n ** BigInt(decimals), denominator).toString();
  if (decimals === 0) return digits;
  const padded = digits.padStart(decimals + 1, "0");
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}

/** `count` significant digits of `abs(value)` and the decimal exponent of the first one: d.ddd × 10^exponent. */
export function significantDigits(value: number, count: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: "0".repeat(count), exponent: 0 };
  const { numerator, denominator } = exactFraction(Math.abs(value));
  let exponent = Number(Math.abs(value).toExponential(0).split("e")[1]);
  // The one-digit guess rounds up at 9.5 and above; settle on the exponent whose digits come out `count` long.
  for (exponent = exponent - 1; ; exponent++) {
    const shift = count - 1 - exponent;
    const digits = (
      shift >= 0
        ? divideHalfEven(numerator * 10n ** BigInt(shift), denominator)
        : divideHalfEven(numerator, denominator * 10n ** BigInt(-shift))
    ).toString();
    if (digits.length <= count) return { digits, exponent };
  }
}
