import { HttpError } from "nemo-gym";
import {
  asciiDigits,
  PyFloat,
  parsePyFloat,
  pyRound,
  pyStr,
  SPACE_CLASS,
  strip,
  toPyFloat,
} from "nemo-gym/python";

export type AnswerType = "float" | "bool" | "string";
export type Value = number | string;

const TRUE = new Set(["1", "1.0", "true", "yes", "present", "t", "y"]);
const FALSE = new Set(["0", "0.0", "false", "no", "absent", "f", "n"]);
const NUMBER = /-?\p{Nd}+(?:\.\p{Nd}+)?(?:[eE][+-]?\p{Nd}+)?/gu;
const spaces = new RegExp(`[${SPACE_CLASS}]+`, "gu");

/** The value of a captured text; undefined if it has none. */
export function parseValue(text: string, type: AnswerType): Value | undefined {
  if (type === "string") return text;
  return type === "bool" ? parseBool(text) : parseNumber(text);
}

/** The whole text as a number, else the last number in it. */
function parseNumber(text: string): number | undefined {
  const whole = parsePyFloat(text);
  if (whole !== undefined) return whole;
  const last = text.match(NUMBER)?.at(-1);
  return last === undefined ? undefined : Number(asciiDigits(last));
}

function parseBool(text: string): number | undefined {
  const token = strip(text).toLowerCase();
  if (TRUE.has(token)) return 1;
  if (FALSE.has(token)) return 0;
  const number = parseNumber(token);
  return number === undefined ? undefined : Number(number !== 0);
}

interface Tolerance {
  relative: number;
  absolute: number;
}

type Rule = (predicted: Value, expected: unknown, tolerance: Tolerance) => boolean;

const numeric =
  (compare: (predicted: number, expected: number, tolerance: Tolerance) => boolean): Rule =>
  (predicted, expected, tolerance) => {
    const wanted = toPyFloat(expected);
    if (wanted === undefined) throw new HttpError(422, "expected_answer must be a number for this rule.");
    const given = toPyFloat(predicted);
    return given !== undefined && compare(given, wanted, tolerance);
  };

const rules: Record<string, Rule> = {
  exact: numeric((a, b) => Number.isFinite(a) && pyRound(a) === pyRound(b)),
  isclose: numeric(isClose),
  abs_window: numeric((a, b, { absolute }) => Math.abs(a - b) <= absolute),
  rel_window: numeric((a, b, { relative }) => Math.abs(a - b) <= Math.abs(relative * b)),
  bool_eq: (predicted, expected) => {
    const wanted = parseBool(pyStr(expected));
    return wanted !== undefined && toPyFloat(predicted) === wanted;
  },
  // A predicted number is a float, so its text is `1.0`.
  string_eq: (predicted, expected) =>
    plain(typeof predicted === "number" ? new PyFloat(predicted) : predicted) === plain(expected),
};

export const isRule = (name: unknown): name is string =>
  typeof name === "string" && Object.hasOwn(rules, name);

export const defaultRules: Record<AnswerType, string> = {
  float: "isclose",
  bool: "bool_eq",
  string: "string_eq",
};

export function isCorrect(rule: string, predicted: Value, expected: unknown, tolerance: Tolerance): boolean {
  const compare = Object.hasOwn(rules, rule) ? rules[rule] : undefined;
  if (!compare) throw new HttpError(422, `match.rule must be one of ${Object.keys(rules).join(", ")}.`);
  return compare(predicted, expected, tolerance);
}

/** As `math.isclose`. */
function isClose(a: number, b: number, { relative, absolute }: Tolerance): boolean {
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= Math.max(relative * Math.max(Math.abs(a), Math.abs(b)), absolute);
}

/** Lower case, with single blanks. */
const plain = (value: unknown): string => strip(pyStr(value)).toLowerCase().replace(spaces, " ");
