import { asciiDigits } from "../python/numbers/parse-number.ts";
import { splitWords, strip } from "../python/whitespace.ts";

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

/** Equal texts, or lists of equal numbers in any notation. Numbers are compared exactly, without a tolerance. */
function sameLine(line: string, wanted: string): boolean {
  if (line === wanted) return true;
  const [words, wantedWords] = [splitWords(line), splitWords(wanted)];
  if (words.length !== wantedWords.length) return false;
  return words.every((word, index) => {
    const value = canonicalDecimal(word);
    return value !== undefined && value === canonicalDecimal(wantedWords[index] ?? "");
  });
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
