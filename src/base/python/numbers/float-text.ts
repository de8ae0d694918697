import { PyFloat } from "./py-float.ts";

/** The shortest decimal digits of a finite, positive number, which is 0.d1d2… × 10^point. */
export function shortestDigits(magnitude: number): { digits: string; point: number } {
  const [mantissa = "0", exponent = "0"] = magnitude.toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
}

/** Python's `repr` of a float: the shortest form, `.0` for whole numbers, an exponent below 1e-4 and from 1e16 (`1e-07`, `1e+16`). */
export function floatRepr(value: number | PyFloat): string {
  const number = value instanceof PyFloat ? value.value : value;
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  if (number === 0) return Object.is(number, -0) ? "-0.0" : "0.0";
  const magnitude = Math.abs(number);
  if (magnitude >= 1e-4 && magnitude < 1e16) return Number.isInteger(number) ? `${number}.0` : String(number);
  const sign = number < 0 ? "-" : "";
  const { digits, point } = shortestDigits(magnitude);
  return `${sign}${exponentForm(digits, point - 1)}`;
}

/** `d.ddde-07`: the exponent has a sign and at least two digits. */
export function exponentForm(digits: string, exponent: number): string {
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  const magnitude = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${magnitude}`;
}

/**
 * A finite float in the compact JSON of result files, like orjson, which upstream uses: `.0` for whole numbers, an exponent
 * below 1e-5 and from 1e16 (`1.5e-7`, `1e16`).
 */
export function floatCompact(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-5 && magnitude < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  const { digits, point } = shortestDigits(magnitude);
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  return `${value < 0 ? "-" : ""}${mantissa}e${point - 1}`;
}
