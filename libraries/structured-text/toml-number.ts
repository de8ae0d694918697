import { PyFloat, parsePyInt } from "nemo-gym/python";

export const numberPattern =
  /0(?:x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|b[01](?:_?[01])*|o[0-7](?:_?[0-7])*)|[+-]?(?:0|[1-9](?:_?[0-9])*)((?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?)/y;

/** Longer hexadecimal, octal or binary numbers are rejected without parsing. */
const maxDigits = 20_000;

/** The number in a match of the pattern; undefined if it has too many digits. */
export function readNumber([text, fraction]: RegExpExecArray): number | bigint | PyFloat | undefined {
  const digits = text.replaceAll("_", "");
  if (fraction) {
    const value = Number(digits);
    return Number.isInteger(value) ? new PyFloat(value) : value;
  }
  if (digits.length > maxDigits) return undefined;
  const integer = /^0[xbo]/.test(digits) ? BigInt(digits) : parsePyInt(digits);
  if (integer === undefined) return undefined;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}
