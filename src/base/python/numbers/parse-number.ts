import { strip } from "../whitespace.ts";
import { PyFloat } from "./py-float.ts";

const FLOAT_TEXT = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const SPECIAL_TEXT = /^([+-]?)(inf|infinity|nan)$/i;
const INT_TEXT = /^[+-]?\d+(?:_\d+)*$/;

/** Python rejects longer integers, because converting them takes quadratic time. */
const MAX_INTEGER_DIGITS = 4300;
/** Maximum length of a text. */
const MAX_LENGTH = 100_000;

/** Python's `float(text)`: accepts white space around it, `1_000`, `.5`, `inf`, `NaN` and digits of any script. Undefined where it raises. */
export function parsePyFloat(text: string): number | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = asciiDigits(strip(text));
  if (FLOAT_TEXT.test(plain)) return Number(plain.replaceAll("_", ""));
  const special = SPECIAL_TEXT.exec(plain);
  if (special === null) return undefined;
  if (special[2]?.toLowerCase() === "nan") return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Python's `int(text)` in base ten. Undefined where it raises. */
export function parsePyInt(text: string): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = asciiDigits(strip(text));
  if (!INT_TEXT.test(plain)) return undefined;
  const digits = plain.replaceAll("_", "").replace("+", "");
  return digits.replace("-", "").length > MAX_INTEGER_DIGITS ? undefined : BigInt(digits);
}

/** Python's `float(value)` of a JSON value. Undefined where it raises. */
export function toPyFloat(value: unknown): number | undefined {
  if (typeof value === "string") return parsePyFloat(value);
  const isNumber = ["number", "bigint", "boolean"].includes(typeof value) || value instanceof PyFloat;
  return isNumber ? Number(value) : undefined;
}

/** Python's `int(value)` of a JSON value: floats lose their fraction. A bigint beyond 2^53; undefined where it raises. */
export function toPyInt(value: unknown): number | bigint | undefined {
  const integer =
    typeof value === "string" ? parsePyInt(value) : typeof value === "bigint" ? value : undefined;
  if (integer !== undefined) return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  const number = typeof value === "string" ? undefined : toPyFloat(value);
  if (number === undefined || !Number.isFinite(number)) return undefined;
  return Number.isSafeInteger(Math.trunc(number)) ? Math.trunc(number) + 0 : BigInt(Math.trunc(number));
}

const decimalDigit = /\p{Nd}/u;
const foreignDigits = /(?![0-9])\p{Nd}/gu;

/** Replaces the digits of every script by 0 to 9. */
export function asciiDigits(text: string): string {
  return text.replace(foreignDigits, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** The digits 0 to 9 of a script are consecutive code points. Adjacent sets of digits each have ten. */
function digitValue(code: number): number {
  let start = code;
  while (decimalDigit.test(String.fromCodePoint(start - 1))) start--;
  return (code - start) % 10;
}
