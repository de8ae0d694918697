import { isGivenUp, withinBudget } from "../budget.ts";
import { matrixValue, sameShape } from "../expression/matrix.ts";
import { infinityOf, type Node, some } from "../expression/node.ts";
import { printNode } from "../expression/print.ts";
import * as c from "../numbers/complex.ts";
import { evaluateAt } from "../numbers/evaluate.ts";
import { doubleValue, exactValue } from "../numbers/exact.ts";
import { differPrecisely } from "../numbers/precise.ts";
import {
  add,
  equal,
  isInteger,
  isZero,
  multiply,
  negate,
  ONE,
  type Rational,
  rational,
  rationalText,
  round,
  subtract,
  toNumber,
} from "../numbers/rational.ts";
import { SamplePoints } from "../numbers/sample-points.ts";
import type { Mode } from "../verify-answer.ts";

/** Whether two answers are equal, and the rule that decided. */
export interface ComparisonResult {
  readonly equal: boolean;
  readonly rule: string;
}

export interface ValueComparison {
  readonly mode: Mode;
}

const verdict = (same: boolean, rule: string): ComparisonResult => ({ equal: same, rule });

/** Answers with a decimal point are rounded to this number of decimals. */
const DECIMALS = 6;
/** Limit for numbers that are too small for a double. */
const MAX_DECIMALS = 300;
const EXACT_POINTS = 4;
const WIDE_POINTS = 8;
const NUMERIC_POINTS = 8;
/** Piecewise functions. */
const TURNING = new Set(["abs", "floor", "ceiling", "max", "min", "mod"]);
/** Maximum number of constants around which such functions are compared. */
const MAX_TURNS = 8;
/** Minimum number of points that must be defined and agree. */
const AGREEING_POINTS = 3;

/** Compares two expressions, numbers or matrices. */
export function compareValues(gold: Node, answer: Node, comparison: ValueComparison): ComparisonResult {
  if (printNode(gold) === printNode(answer) && sameKinds(gold, answer))
    return verdict(!isUndefined(gold), "written the same");
  const letters = compareLetters(gold, answer, comparison.mode);
  if (letters) return letters;
  if (isUndefined(gold) || isUndefined(answer)) return verdict(false, "a value that is not defined");
  if (hasMatrix(gold) || hasMatrix(answer)) return compareMatrices(gold, answer, comparison);
  const infinite = compareInfinite(gold, answer, comparison.mode);
  if (infinite) return infinite;
  const points = new SamplePoints(gold, answer);
  if (points.symbols.length === 0) {
    const decimals = compareDecimals(gold, answer, comparison);
    if (decimals) return decimals;
  }
  return compareExactly(gold, answer, points) ?? compareNumerically(gold, answer, points);
}

/** Real symbols and others have the same text but differ. */
function sameKinds(gold: Node, answer: Node): boolean {
  const isReal = (node: Node) => !some(node, (part) => part.kind === "symbol" && !part.real);
  return isReal(gold) === isReal(answer) || !some(gold, (part) => part.kind === "symbol");
}

const isUndefined = (node: Node) =>
  some(node, (part) => part.kind === "constant" && part.name === "undefined");
const hasMatrix = (node: Node) => some(node, (part) => part.kind === "matrix");

/** A name in `\text{…}` equals the product of the same letters, and `e` equals `E`. */
function compareLetters(gold: Node, answer: Node, mode: Mode): ComparisonResult | undefined {
  if (gold.kind !== "symbol" && answer.kind !== "symbol") return undefined;
  const [a, b] = [lettersOf(gold, mode), lettersOf(answer, mode)];
  if (a === undefined || b === undefined)
    return mode === "compat" ? verdict(false, "a name and an expression") : undefined;
  if (mode === "strict" && a !== b) return undefined;
  const sameReality = gold.kind !== "symbol" || answer.kind !== "symbol" || gold.real === answer.real;
  return verdict(a === b && sameReality, "names");
}

function lettersOf(node: Node, mode: Mode): string | undefined {
  // A name is often a choice or a word, in which case and spaces do not matter.
  if (node.kind === "symbol")
    return mode === "strict" ? node.name.toLowerCase().replace(/\s+/g, "") : node.name.toLowerCase();
  if (node.kind === "constant") {
    const i = mode === "strict" ? "i" : undefined;
    return { pi: "pi", e: "e", i, infinity: undefined, undefined: undefined }[node.name];
  }
  if (node.kind === "number" && isInteger(node.value)) return node.value.n.toString();
  if (node.kind !== "multiply") return undefined;
  const parts = node.args.map((arg) => lettersOf(arg, mode));
  if (!parts.every((part) => part !== undefined)) return undefined;
  return mode === "strict" ? parts.join("").toLowerCase() : parts.join("");
}

function compareMatrices(gold: Node, answer: Node, comparison: ValueComparison): ComparisonResult {
  const [a, b] = [matrixValue(gold), matrixValue(answer)];
  if (a?.kind !== "matrix" || b?.kind !== "matrix") return verdict(false, "a matrix and something else");
  if (!sameShape(a, b)) return verdict(false, "matrices of different shapes");
  const same = a.rows.every((row, i) =>
    row.every((entry, j) => compareValues(entry, b.rows[i]?.[j] as Node, comparison).equal),
  );
  return verdict(same, "matrices entry by entry");
}

/** Compares numbers with a decimal point after rounding. Undefined if neither side has one. */
function compareDecimals(gold: Node, answer: Node, { mode }: ValueComparison): ComparisonResult | undefined {
  const [a, b] = [decimalOf(gold, mode), decimalOf(answer, mode)];
  if (!a?.decimal && !b?.decimal) return undefined;
  if (a && b) {
    if (equal(a.value, b.value)) return verdict(true, "equal numbers");
    const whole = (value: typeof a) => !value.decimal && isInteger(value.value);
    // A rounded decimal never equals a whole number (upstream: SymPy's Float never equals an Integer).
    if (mode === "compat" && (whole(a) || whole(b))) return verdict(false, "a whole number and a decimal");
    const digits = roundedDigits(Math.max(Math.abs(toNumber(a.value)), Math.abs(toNumber(b.value))), mode);
    return verdict(
      equal(round(a.value, digits), round(b.value, digits)),
      `decimals rounded to ${digits} digits`,
    );
  }
  const known = (a ?? b) as { value: Rational };
  const other = evaluateAt(a ? answer : gold);
  if (!other || !c.isKnown(other) || Math.abs(other.im) > 1e-12)
    return verdict(false, "a decimal and another kind of value");
  const digits = roundedDigits(Math.abs(toNumber(known.value)), mode);
  const scaled = Math.round(other.re * 10 ** digits);
  return verdict(
    scaled === Math.round(toNumber(round(known.value, digits)) * 10 ** digits),
    `decimals rounded to ${digits} digits`,
  );
}

/** In strict mode, numbers below 1 keep the same number of significant digits, so that they do not round to 0. */
function roundedDigits(size: number, mode: Mode): number {
  if (mode === "compat" || size >= 1 || size === 0) return DECIMALS;
  return Math.min(DECIMALS - 1 - Math.floor(Math.log10(size)), MAX_DECIMALS);
}

interface Decimal {
  readonly value: Rational;
  readonly decimal: boolean;
}

function decimalOf(node: Node, mode: Mode): Decimal | undefined {
  const decimal = some(node, (part) => part.kind === "float");
  const value = withinBudget(() => (decimal && mode === "compat" ? doubleValue(node) : exactValue(node)));
  return value && { value, decimal };
}

/** Compares exact values at rational points. Decides numbers, polynomials and rational functions. */
function compareExactly(gold: Node, answer: Node, points: SamplePoints): ComparisonResult | undefined {
  const isNumber = points.symbols.length === 0;
  const wanted = isNumber ? 1 : EXACT_POINTS;
  let agreed = 0;
  for (let index = 0; index < wanted + 2 && agreed < wanted; index++) {
    const same = sameAt(gold, answer, points.rational(index));
    if (same === "too large" && index > 1) return undefined;
    if (same === false) return verdict(false, isNumber ? "exact numbers" : "exact values at a point");
    if (same === true) agreed++;
  }
  if (agreed < wanted) return undefined;
  if (isNumber) return verdict(true, "exact numbers");
  return differsFarOut(gold, answer, points)
    ? verdict(false, "exact values at a point")
    : verdict(true, "exact values at several points");
}

/** Finds differences far from zero or at whole numbers, as between |x - 3| and 3 - x. */
function differsFarOut(gold: Node, answer: Node, points: SamplePoints): boolean {
  const seed = hashOf(`${printNode(gold)} ${printNode(answer)}`);
  for (let index = 0; index < WIDE_POINTS; index++)
    if (sameAt(gold, answer, points.wide(index, seed)) === false) return true;
  return turningPoints(gold, answer).some((value) => sameAt(gold, answer, points.near(value)) === false);
}

/** Values around the points where piecewise functions change, as between |x - 1000| and 1000 - x. */
function turningPoints(gold: Node, answer: Node): Rational[] {
  const turns = (part: Node) => part.kind === "call" && TURNING.has(part.name);
  if (!some(gold, turns) && !some(answer, turns)) return [];
  const sizes = new Map<string, Rational>();
  const collect = (part: Node) => {
    if (part.kind === "number" || part.kind === "float") {
      const size = part.value.n < 0n ? negate(part.value) : part.value;
      if (sizes.size < MAX_TURNS && !isZero(size)) sizes.set(rationalText(size), size);
    }
    return false;
  };
  some(gold, collect);
  some(answer, collect);
  const [half, third, two] = [rational(1n, 2n), rational(1n, 3n), rational(2n)];
  return [...sizes.values()].flatMap((size) => {
    const far = add(multiply(size, two), third);
    // A floor changes just below whole numbers.
    return [
      far,
      negate(far),
      multiply(size, half),
      negate(multiply(size, half)),
      subtract(ONE, multiply(size, half)),
    ];
  });
}

/** Whether two expressions have the same value at a point. Undefined if one has no value. */
function sameAt(
  gold: Node,
  answer: Node,
  point: ReturnType<SamplePoints["rational"]>,
): boolean | "too large" | undefined {
  try {
    const a = exactValue(gold, point);
    const b = a && exactValue(answer, point);
    return a && b && equal(a, b);
  } catch (error) {
    // After large powers and divisions by zero, another point or the next step decides.
    if (!isGivenUp(error)) throw error;
    return "too large";
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
}

/** Compares floating-point values with error bounds. Constants that agree are computed again to 60 digits. */
function compareNumerically(gold: Node, answer: Node, points: SamplePoints): ComparisonResult {
  const count = points.symbols.length === 0 ? 1 : NUMERIC_POINTS;
  let agreed = 0;
  for (let index = 0; index < count; index++) {
    const point = points.complex(index);
    const a = evaluateAt(gold, point);
    const b = a && evaluateAt(answer, point);
    if (!a || !b || !c.isKnown(a) || !c.isKnown(b)) continue;
    const error = a.error + b.error;
    const scale = Math.max(c.size(a), c.size(b));
    const distance = Math.hypot(a.re - b.re, a.im - b.im);
    if (distance > 1e-12 * scale + 8 * error) return verdict(false, "numeric values at a point");
    if (error <= 1e-6 * scale || error <= 1e-9) agreed++;
  }
  if (agreed < Math.min(AGREEING_POINTS, count)) return verdict(false, "cannot tell");
  return count === 1 && differPrecisely(gold, answer)
    ? verdict(false, "numeric values to 60 digits")
    : verdict(true, "numeric values");
}

/** Compares answers with infinity in a computation. Undefined if neither has it. */
function compareInfinite(gold: Node, answer: Node, mode: Mode): ComparisonResult | undefined {
  if (!computesWithInfinity(gold) && !computesWithInfinity(answer)) return undefined;
  const [a, b] = [extendedValue(gold), extendedValue(answer)];
  // Upstream: SymPy does not evaluate `2*oo` and `oo + 1`, and their difference is undefined.
  const comparable = mode === "strict" || Number.isFinite(a) || isEvaluated(gold) || isEvaluated(answer);
  return { equal: a !== undefined && a === b && comparable, rule: "infinite values" };
}

function computesWithInfinity(node: Node): boolean {
  return (
    some(node, (part) => part.kind === "constant" && part.name === "infinity") &&
    !some(node, (part) => part.kind === "bound")
  );
}

/** Infinity and powers of e. SymPy replaces them by their value. */
const isEvaluated = (node: Node): boolean => infinityOf(node) !== undefined || isPowerOfE(node);

const isPowerOfE = (node: Node) =>
  (node.kind === "call" && node.name === "exp") ||
  (node.kind === "power" && node.base.kind === "constant" && node.base.name === "e");

/** The value on the extended real line. Undefined if there is none. */
function extendedValue(node: Node): number | undefined {
  switch (node.kind) {
    case "constant":
      return {
        pi: Math.PI,
        e: Math.E,
        i: undefined,
        infinity: Number.POSITIVE_INFINITY,
        undefined: undefined,
      }[node.name];
    case "number":
    case "float":
      return toNumber(node.value);
    case "add": {
      // A real symbol does not change infinity.
      const parts = node.args.filter(({ kind }) => kind !== "symbol");
      const sum = combined(parts, (total, part) => total + part);
      return parts.length === node.args.length || sum === undefined || !Number.isFinite(sum)
        ? sum
        : undefined;
    }
    case "multiply":
      return combined(node.args, (total, part) => total * part);
    case "power": {
      const [base, exponent] = [extendedValue(node.base), extendedValue(node.exponent)];
      if (base === undefined || exponent === undefined) return undefined;
      return base < 0 && !Number.isInteger(exponent) ? undefined : known(base ** exponent);
    }
    case "call": {
      const [argument] = node.args.map(extendedValue);
      return node.name === "exp" && argument !== undefined ? Math.exp(argument) : undefined;
    }
    default:
      return undefined;
  }
}

function combined(
  parts: readonly Node[],
  combine: (total: number, part: number) => number,
): number | undefined {
  const values = parts.map(extendedValue);
  const [first, ...rest] = values;
  const total = rest.reduce(
    (sum, part) => (sum === undefined || part === undefined ? undefined : combine(sum, part)),
    first,
  );
  return total === undefined ? undefined : known(total);
}

const known = (value: number) => (Number.isNaN(value) ? undefined : value);
