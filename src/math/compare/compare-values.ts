import { type Budget, BudgetError } from "../budget.ts";
import { matrixValue, sameShape } from "../expression/matrix.ts";
import { isInfinite, type Node, some } from "../expression/node.ts";
import { printNode } from "../expression/print.ts";
import * as c from "../numbers/complex.ts";
import { evaluate } from "../numbers/evaluate.ts";
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

/** How two answers were found equal or different. */
export interface Verdict {
  readonly equal: boolean;
  readonly rule: string;
}

export interface Comparison {
  readonly mode: Mode;
  readonly budget: Budget;
}

const verdict = (same: boolean, rule: string): Verdict => ({ equal: same, rule });

/** Decimals that answers with a decimal point are rounded to. */
const DECIMALS = 6;
/** Numbers smaller than a double can be count as 0. */
const MAX_DECIMALS = 300;
const EXACT_POINTS = 4;
const WIDE_POINTS = 8;
const NUMERIC_POINTS = 8;
/** Functions whose pieces are different expressions. */
const TURNING = new Set(["abs", "floor", "ceiling", "max", "min", "mod"]);
/** Numbers of a pair around which such functions are tried. */
const MAX_TURNS = 8;
/** How many points must be defined and agree. */
const AGREEING_POINTS = 3;

/** Compares two expressions, numbers or matrices. */
export function compareValues(gold: Node, answer: Node, comparison: Comparison): Verdict {
  const { budget } = comparison;
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
  return compareExactly(gold, answer, points, budget) ?? compareNumerically(gold, answer, points, budget);
}

/** Real and other symbols print alike but differ. */
function sameKinds(gold: Node, answer: Node): boolean {
  const isReal = (node: Node) => !some(node, (part) => part.kind === "symbol" && !part.real);
  return isReal(gold) === isReal(answer) || !some(gold, (part) => part.kind === "symbol");
}

const isUndefined = (node: Node) =>
  some(node, (part) => part.kind === "constant" && part.name === "undefined");
const hasMatrix = (node: Node) => some(node, (part) => part.kind === "matrix");

/** A name in `\text{…}` equals the same letters as a product; `e` equals `E`. */
function compareLetters(gold: Node, answer: Node, mode: Mode): Verdict | undefined {
  if (gold.kind !== "symbol" && answer.kind !== "symbol") return undefined;
  const [a, b] = [lettersOf(gold, mode), lettersOf(answer, mode)];
  if (a === undefined || b === undefined)
    return mode === "compat" ? verdict(false, "a name and an expression") : undefined;
  if (mode === "strict" && a !== b) return undefined;
  const sameReality = gold.kind !== "symbol" || answer.kind !== "symbol" || gold.real === answer.real;
  return verdict(a === b && sameReality, "names");
}

function lettersOf(node: Node, mode: Mode): string | undefined {
  // A whole answer of one name is often a choice or a word: case and spaces do not matter there.
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

function compareMatrices(gold: Node, answer: Node, comparison: Comparison): Verdict {
  const [a, b] = [matrixValue(gold, comparison.budget), matrixValue(answer, comparison.budget)];
  if (a?.kind !== "matrix" || b?.kind !== "matrix") return verdict(false, "a matrix and something else");
  if (!sameShape(a, b)) return verdict(false, "matrices of different shapes");
  const same = a.rows.every((row, i) =>
    row.every((entry, j) => compareValues(entry, b.rows[i]?.[j] as Node, comparison).equal),
  );
  return verdict(same, "matrices entry by entry");
}

/** Numbers with a decimal point: equal when they round to the same. Undefined when neither side is one. */
function compareDecimals(gold: Node, answer: Node, { mode, budget }: Comparison): Verdict | undefined {
  const [a, b] = [decimalOf(gold, mode, budget), decimalOf(answer, mode, budget)];
  if (!a?.decimal && !b?.decimal) return undefined;
  if (a && b) {
    if (equal(a.value, b.value)) return verdict(true, "equal numbers");
    const whole = (value: typeof a) => !value.decimal && isInteger(value.value);
    // A whole number is not rounded, and a rounded decimal is not one (upstream: SymPy's Float never equals an Integer).
    if (mode === "compat" && (whole(a) || whole(b))) return verdict(false, "a whole number and a decimal");
    const digits = roundedDigits(Math.max(Math.abs(toNumber(a.value)), Math.abs(toNumber(b.value))), mode);
    return verdict(
      equal(round(a.value, digits), round(b.value, digits)),
      `decimals rounded to ${digits} digits`,
    );
  }
  const known = (a ?? b) as { value: Rational };
  const other = evaluate(a ? answer : gold, budget);
  if (!other || !c.isKnown(other) || Math.abs(other.im) > 1e-12)
    return verdict(false, "a decimal and another kind of value");
  const digits = roundedDigits(Math.abs(toNumber(known.value)), mode);
  const scaled = Math.round(other.re * 10 ** digits);
  return verdict(
    scaled === Math.round(toNumber(round(known.value, digits)) * 10 ** digits),
    `decimals rounded to ${digits} digits`,
  );
}

/** In strict mode numbers below 1 keep as many significant digits, so that small ones do not all round to 0. */
function roundedDigits(size: number, mode: Mode): number {
  if (mode === "compat" || size >= 1 || size === 0) return DECIMALS;
  return Math.min(DECIMALS - 1 - Math.floor(Math.log10(size)), MAX_DECIMALS);
}

interface Decimal {
  readonly value: Rational;
  readonly decimal: boolean;
}

function decimalOf(node: Node, mode: Mode, budget: Budget): Decimal | undefined {
  const decimal = some(node, (part) => part.kind === "float");
  try {
    const value = decimal && mode === "compat" ? doubleValue(node, budget) : exactValue(node, budget);
    return value && { value, decimal };
  } catch (error) {
    if (error instanceof BudgetError) return undefined;
    throw error;
  }
}

/** At points with rational coordinates, exactly: decides numbers, polynomials and rational functions. */
function compareExactly(gold: Node, answer: Node, points: SamplePoints, budget: Budget): Verdict | undefined {
  const isNumber = points.symbols.length === 0;
  const wanted = isNumber ? 1 : EXACT_POINTS;
  let agreed = 0;
  for (let index = 0; index < wanted + 2 && agreed < wanted; index++) {
    const same = sameAt(gold, answer, points.rational(index), budget);
    if (same === "too large" && index > 1) return undefined;
    if (same === false) return verdict(false, isNumber ? "exact numbers" : "exact values at a point");
    if (same === true) agreed++;
  }
  if (agreed < wanted) return undefined;
  if (isNumber) return verdict(true, "exact numbers");
  return differsFarOut(gold, answer, points, budget)
    ? verdict(false, "exact values at a point")
    : verdict(true, "exact values at several points");
}

/** Finds differences that only show away from zero or at whole numbers: |x - 3| and 3 - x. */
function differsFarOut(gold: Node, answer: Node, points: SamplePoints, budget: Budget): boolean {
  const seed = hashOf(`${printNode(gold)} ${printNode(answer)}`);
  for (let index = 0; index < WIDE_POINTS; index++)
    if (sameAt(gold, answer, points.wide(index, seed), budget) === false) return true;
  return turningPoints(gold, answer).some(
    (value) => sameAt(gold, answer, points.near(value), budget) === false,
  );
}

/** Values on both sides of where absolute values, floors and maxima turn: |x - 1000| and 1000 - x. */
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
    // A floor turns just below whole numbers.
    return [
      far,
      negate(far),
      multiply(size, half),
      negate(multiply(size, half)),
      subtract(ONE, multiply(size, half)),
    ];
  });
}

/** Whether two expressions have the same value at a point; undefined where one has none. */
function sameAt(
  gold: Node,
  answer: Node,
  point: ReturnType<SamplePoints["rational"]>,
  budget: Budget,
): boolean | "too large" | undefined {
  try {
    const a = exactValue(gold, budget, point);
    const b = a && exactValue(answer, budget, point);
    return a && b && equal(a, b);
  } catch (error) {
    // Large powers and divisions by zero leave the pair to another point or the next step.
    if (!(error instanceof BudgetError || error instanceof RangeError)) throw error;
    return "too large";
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
}

/** In floating point with error bounds: any difference beyond them decides. Constants that agree are computed to 60 digits. */
function compareNumerically(gold: Node, answer: Node, points: SamplePoints, budget: Budget): Verdict {
  const count = points.symbols.length === 0 ? 1 : NUMERIC_POINTS;
  let agreed = 0;
  for (let index = 0; index < count; index++) {
    const point = points.complex(index);
    const a = evaluate(gold, budget, point);
    const b = a && evaluate(answer, budget, point);
    if (!a || !b || !c.isKnown(a) || !c.isKnown(b)) continue;
    const error = a.error + b.error;
    const scale = Math.max(c.size(a), c.size(b));
    const distance = Math.hypot(a.re - b.re, a.im - b.im);
    if (distance > 1e-12 * scale + 8 * error) return verdict(false, "numeric values at a point");
    if (error <= 1e-6 * scale || error <= 1e-9) agreed++;
  }
  if (agreed < Math.min(AGREEING_POINTS, count)) return verdict(false, "cannot tell");
  return count === 1 && differPrecisely(gold, answer, budget)
    ? verdict(false, "numeric values to 60 digits")
    : verdict(true, "numeric values");
}

/** Compares answers that compute with infinity; undefined where neither does. */
function compareInfinite(gold: Node, answer: Node, mode: Mode): Verdict | undefined {
  if (!computesWithInfinity(gold) && !computesWithInfinity(answer)) return undefined;
  const [a, b] = [extendedValue(gold), extendedValue(answer)];
  // Upstream: SymPy evaluates none of `2*oo` and `oo + 1`, and their difference is undefined.
  const comparable = mode === "strict" || Number.isFinite(a) || isEvaluated(gold) || isEvaluated(answer);
  return { equal: a !== undefined && a === b && comparable, rule: "infinite values" };
}

function computesWithInfinity(node: Node): boolean {
  return (
    some(node, (part) => part.kind === "constant" && part.name === "infinity") &&
    !some(node, (part) => part.kind === "bound")
  );
}

/** Infinity itself and its powers of e: SymPy replaces these by their value. */
const isEvaluated = (node: Node): boolean => isInfinite(node) || isPowerOfE(node);

const isPowerOfE = (node: Node) =>
  (node.kind === "call" && node.name === "exp") ||
  (node.kind === "power" && node.base.kind === "constant" && node.base.name === "e");

/** The value on the extended real line; undefined where there is none. */
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
      // A real symbol does not move infinity.
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
