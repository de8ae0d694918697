import {
  codePointLength,
  compilePyRegex,
  loads,
  PyFloat,
  parsePyFloat,
  parsePyInt,
  strip,
} from "nemo-gym/python";
import { closeDecimals, equalDecimals, parseDecimal, roundSignificant } from "./decimal.ts";
import { exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";
import { evaluateBitwise, parsePyInteger } from "./integers.ts";
import { parseLiteral } from "./python-literal.ts";
import { sameLetters } from "./words.ts";

/** 1 for equal numbers in any notation; else the correct answer's share of a text that contains it. */
const decimalReward: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const given = answer.replaceAll(",", "");
  const wanted = oracle(entry).replaceAll(",", "");
  if (orElse(0, () => exactly(equalDecimals(parseDecimal(given), parseDecimal(wanted)))) === 1) return 1;
  return given.includes(wanted) ? codePointLength(wanted) / codePointLength(given) : 0;
};

/** Decimal places in which the answer may be off by one unit. */
const DECIMAL_PLACES = 3;

const decimalArithmetic: Scorer = (answer, entry) =>
  orElse(0, () => exactly(closeDecimals(parseDecimal(answer), parseDecimal(oracle(entry)), DECIMAL_PLACES)));

const decimalChainSum: Scorer = (answer, entry) =>
  orElse(0, () => exactly(equalDecimals(parseDecimal(answer), parseDecimal(oracle(entry)))));

const powerFunction: Scorer = (answer, entry) =>
  orElse(0.01, () => {
    const given = roundSignificant(parseDecimal(answer), 3);
    return equalDecimals(given, roundSignificant(parseDecimal(oracle(entry)), 3)) ? 1 : 0.01;
  });

const bitwiseArithmetic: Scorer = (answer, entry) =>
  orElse(0, () => exactly(evaluateBitwise(metadata<string>(entry, "problem")) === parsePyInteger(answer)));

const LATEX_FRACTION = compilePyRegex(String.raw`\\(?:frac|dfrac)\s*{\s*(\d+)\s*}\s*{\s*(\d+)\s*}`, {
  ignoreCase: true,
});

function parseFraction(text: string): [bigint, bigint] {
  const plain = strip(strip(strip(text), "$"));
  const latex = LATEX_FRACTION.match(plain);
  const slash = plain.indexOf("/");
  const [top, bottom] = latex
    ? latex.groups()
    : slash >= 0
      ? [plain.slice(0, slash), plain.slice(slash + 1)]
      : [];
  const [numerator, denominator] = [parsePyInt(top ?? ""), parsePyInt(bottom ?? "")];
  if (numerator === undefined || denominator === undefined) throw new TypeError("not a fraction");
  return [numerator, denominator];
}

const fractionSimplification: Scorer = (answer, entry) =>
  orElse(0.01, () => {
    const [numerator, denominator] = parseFraction(answer);
    const is = (value: bigint, key: string) => value === BigInt(metadata<number>(entry, key));
    if (is(numerator, "simplified_numerator") && is(denominator, "simplified_denominator")) return 1;
    return is(numerator, "numerator") || is(denominator, "denominator") ? 0.1 : 0.05;
  });

const GSM_NUMBER = compilePyRegex(String.raw`\b-?\d+(?:\.\d+)?\b`);

const gsmSymbolic: Scorer = (answer, entry) =>
  orElse(0, () => {
    const match = GSM_NUMBER.search(answer);
    if (match === null) return 0;
    const wanted = parsePyFloat(oracle(entry));
    if (wanted === undefined) return 0;
    return parsePyFloat(match.group() ?? "") === wanted ? 1 : 0.01;
  });

const numberFormat: Scorer = (answer, entry) => {
  const value = parsePyFloat(strip(answer).replaceAll(",", ""));
  return exactly(value !== undefined && Math.abs(value - metadata<number>(entry, "solution")) < 1e-2);
};

/** Factors with a wrong product get a minimal score; text that is not a list of factors gets 0. */
const primeFactorization: Scorer = (answer, entry) => {
  const wanted = factorsOf(oracle(entry));
  const given = factorsOf(answer);
  if (given.join("×") === wanted.join("×")) return 1;
  const product = (factors: readonly bigint[]) => factors.reduce((total, factor) => total * factor, 1n);
  return product(given) === product(wanted) ? 0.5 : 0.01;
};

const MAX_FACTORS = 1000;

function factorsOf(text: string): bigint[] {
  const parts = text
    .split("×")
    .map((part) => strip(part))
    .filter((part) => part !== "");
  if (parts.length > MAX_FACTORS) throw new TypeError("too many factors");
  return parts
    .map((part) => {
      const factor = parsePyInt(part);
      if (factor === undefined) throw new TypeError(`${part} is not a factor`);
      return factor;
    })
    .sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
}

/** Tolerance for every element of a sorted list. */
const SORTING_TOLERANCE = 1;

const numberSorting: Scorer = (answer, entry) =>
  orElse(0, () => {
    const given = loads(answer.replaceAll("'", '"'), { allowNonFinite: true });
    const wanted = parseLiteral(oracle(entry));
    if (!Array.isArray(given) || !Array.isArray(wanted) || given.length !== wanted.length) return 0;
    const [left, right] = [given.map(toFloat), wanted.map(toFloat)];
    const direction = metadata<string>(entry, "direction") === "ascending" ? 1 : -1;
    const sorted = left.every(
      (value, index) => index === 0 || direction * (value - (left[index - 1] ?? 0)) >= 0,
    );
    return exactly(
      sorted && left.every((value, index) => Math.abs(value - (right[index] ?? 0)) <= SORTING_TOLERANCE),
    );
  });

function toFloat(value: unknown): number {
  const isNumber = typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
  const number =
    typeof value === "string"
      ? parsePyFloat(value)
      : isNumber || value instanceof PyFloat
        ? Number(value)
        : undefined;
  if (number === undefined) throw new TypeError("not a number");
  return number;
}

export const arithmetic: Record<string, Scorer> = {
  bitwise_arithmetic: bitwiseArithmetic,
  chain_sum: decimalReward,
  decimal_arithmetic: decimalArithmetic,
  decimal_chain_sum: decimalChainSum,
  dice: sameLetters,
  fraction_simplification: fractionSimplification,
  gsm_symbolic: gsmSymbolic,
  number_format: numberFormat,
  number_sorting: numberSorting,
  power_function: powerFunction,
  prime_factorization: primeFactorization,
  products: decimalReward,
};
