import { strip } from "nemo-gym/python";

/** The exact value `coefficient * 10^exponent`. */
export interface Decimal {
  coefficient: bigint;
  exponent: number;
}

/** The text is not a finite decimal number. */
class DecimalError extends Error {
  override readonly name = "DecimalError";
}

const DECIMAL = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?$/;
/** Numbers with more digits, or beyond this magnitude, are rejected because arithmetic with them takes long. */
const MAX_DIGITS = 2000;
const MAX_EXPONENT = 5000;

/** Reads the texts that Python's `Decimal(text)` accepts, except infinities and NaN. Underscores may occur anywhere. */
export function parseDecimal(text: string): Decimal {
  const match = text.length > 2 * MAX_DIGITS ? null : DECIMAL.exec(strip(text).replaceAll("_", ""));
  if (match === null) throw new DecimalError("not a decimal number");
  const [, sign, whole = "", fraction = "", bareFraction = "", exponent = "0"] = match;
  const decimals = fraction + bareFraction;
  const digits = whole + decimals;
  const power = Number(exponent) - decimals.length;
  if (digits.length > MAX_DIGITS || Math.abs(power) > MAX_EXPONENT) throw new DecimalError("out of range");
  const coefficient = BigInt(digits);
  return { coefficient: sign === "-" ? -coefficient : coefficient, exponent: power };
}

/** Both coefficients, scaled to the smaller exponent. */
function aligned(left: Decimal, right: Decimal): [bigint, bigint, exponent: number] {
  const exponent = Math.min(left.exponent, right.exponent);
  const scale = ({ coefficient, exponent: own }: Decimal) => coefficient * 10n ** BigInt(own - exponent);
  return [scale(left), scale(right), exponent];
}

export function equalDecimals(left: Decimal, right: Decimal): boolean {
  const [a, b] = aligned(left, right);
  return a === b;
}

/** Whether two numbers are at most `10^-places` apart. */
export function closeDecimals(left: Decimal, right: Decimal, places: number): boolean {
  const [a, b, exponent] = aligned(left, right);
  const difference = a > b ? a - b : b - a;
  const [distance, limit] = aligned(
    { coefficient: difference, exponent },
    { coefficient: 1n, exponent: -places },
  );
  return distance <= limit;
}

/** The number rounded to a number of significant digits, half to even. */
export function roundSignificant({ coefficient, exponent }: Decimal, digits: number): Decimal {
  const magnitude = coefficient < 0n ? -coefficient : coefficient;
  const surplus = magnitude.toString().length - digits;
  if (surplus <= 0) return { coefficient, exponent };
  const unit = 10n ** BigInt(surplus);
  const quotient = magnitude / unit;
  const twice = (magnitude % unit) * 2n;
  const up = twice > unit || (twice === unit && quotient % 2n === 1n) ? 1n : 0n;
  const rounded = quotient + up;
  return { coefficient: coefficient < 0n ? -rounded : rounded, exponent: exponent + surplus };
}
