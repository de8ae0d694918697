import { splitWords, strip } from "../../base/python/door.ts";
import { asciiDigits } from "../../base/python/numbers/door.ts";

/** The first difference between an output and the expected output; undefined if they are equal. */
export function outputDifference(output: string, expected: string): string | undefined {
  const lines = strippedLines(output);
  const expectedLines = strippedLines(expected);
  if (lines.length !== expectedLines.length) return "Wrong answer: mismatched output length";
  for (const [index, line] of lines.entries()) {
    const wanted = expectedLines[index] ?? "";
    if (!sameLine(line, wanted)) return `Wrong answer at output_line_idx=${index}: ${line} != ${wanted}`;
  }
  return undefined;
}

function strippedLines(text: string): string[] {
  return strip(text)
    .split("\n")
    .map((line) => strip(line));
}

/** Equal texts, `yes` and `no` in any case, or lists of numbers that agree. */
function sameLine(line: string, wanted: string): boolean {
  if (line === wanted) return true;
  const lower = line.toLowerCase();
  if ((lower === "yes" || lower === "no") && lower === wanted.toLowerCase()) return true;
  const [words, wantedWords] = [splitWords(line), splitWords(wanted)];
  if (words.length !== wantedWords.length) return false;
  if (![...words, ...wantedWords].every(isDecimal)) return false;
  return words.every((word, index) => sameNumber(word, wantedWords[index] ?? ""));
}

function isDecimal(word: string): boolean {
  return canonicalDecimal(word) !== undefined || /^[+-]?s?nan\d*$/i.test(word);
}

/** Equal numbers; a number with a point or an exponent may differ by 1e-6, absolute or relative to the expected number. */
function sameNumber(word: string, wanted: string): boolean {
  const [value, wantedValue] = [canonicalDecimal(word), canonicalDecimal(wanted)];
  if (value === undefined || wantedValue === undefined) return false;
  if (value === wantedValue) return true;
  if (![word, wanted].some((text) => /[.e]/i.test(text))) return false;
  return isClose(value, wantedValue);
}

/** More digits than any tolerance needs; it bounds the size of the integers. */
const DIGITS = 40;

function isClose(value: string, wanted: string): boolean {
  const [first, second] = [scaled(value), scaled(wanted)];
  if (first === undefined || second === undefined) return false;
  // Numbers of very different size are close only if both are nearly 0.
  const lowest = -3 * DIGITS;
  const exponents = [first.exponent, second.exponent].map((exponent) => Math.max(exponent, lowest));
  const exponent = Math.min(...exponents, 0);
  if (Math.max(...exponents) - exponent > 4 * DIGITS) return false;
  const [a, b] = [first, second].map(({ digits, exponent: own }) =>
    own < lowest ? 0n : digits * 10n ** BigInt(own - exponent),
  ) as [bigint, bigint];
  const difference = a > b ? a - b : b - a;
  const one = 10n ** BigInt(-exponent);
  const size = b < 0n ? -b : b;
  return [one, size].some((reference) => difference * 1_000_000n <= reference);
}

function scaled(canonical: string): { digits: bigint; exponent: number } | undefined {
  if (canonical.endsWith("inf")) return undefined;
  const [mantissa = "0", exponent = "0"] = canonical.split("e");
  const length = DIGITS + (mantissa.startsWith("-") ? 1 : 0);
  const dropped = Math.max(mantissa.length - length, 0);
  return { digits: BigInt(mantissa.slice(0, length)), exponent: Number(exponent) + dropped };
}

const DECIMAL = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d{1,20}))?$/i;

/**
 * A text that is the same for all notations of a number that are equal as Python's `Decimal`. Undefined for a text that is
 * not a number, and for NaN, which equals nothing.
 */
export function canonicalDecimal(text: string): string | undefined {
  const plain = asciiDigits(text.replaceAll("_", ""));
  const infinity = /^([+-]?)inf(inity)?$/i.exec(plain);
  if (infinity) return infinity[1] === "-" ? "-inf" : "inf";
  const match = DECIMAL.exec(plain);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", bareFraction = "", exponent = "0"] = match;
  const decimals = fraction + bareFraction;
  const digits = (whole + decimals).replace(/^0+/, "");
  if (digits === "") return "0";
  const significant = trimZeros(digits);
  const scale = BigInt(exponent) - BigInt(decimals.length) + BigInt(digits.length - significant.length);
  return `${sign === "-" ? "-" : ""}${significant}e${scale}`;
}

/** A loop, because the pattern `0+$` takes quadratic time for long runs of zeros in the middle. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
