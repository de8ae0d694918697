import { PyFloat, parsePyFloat, parsePyInt } from "../../base/python/numbers/door.ts";
import type { ScalarValue } from "../node.ts";

/**
 * The scalars of YAML 1.1 as PyYAML reads them. The patterns are those of https://yaml.org/type/ where PyYAML follows
 * them.
 */

export const BOOLEANS = new Map<string, boolean>();
for (const word of ["yes", "true", "on"]) for (const form of spellings(word)) BOOLEANS.set(form, true);
for (const word of ["no", "false", "off"]) for (const form of spellings(word)) BOOLEANS.set(form, false);

export const NULLS: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/** The longest word in the two lists above. */
const LONGEST_WORD = "false".length;

export const INTEGER = anyOf(
  "[-+]?0b[01_]+",
  "[-+]?0[0-7_]+",
  "[-+]?(?:0|[1-9][0-9_]*)",
  "[-+]?0x[0-9a-fA-F_]+",
  "[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
);

const FLOAT_FORMS = [
  "[-+]?[0-9][0-9_]*\\.[0-9_]*(?:[eE][-+][0-9]+)?",
  "\\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
  "[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*",
  "[-+]?\\.(?:inf|Inf|INF)",
  "\\.(?:nan|NaN|NAN)",
];
export const FLOAT = anyOf(...FLOAT_FORMS);
/** OmegaConf also reads `1e3` and `1.5e3` as floats. */
const OMEGACONF_FLOAT = anyOf(
  ...FLOAT_FORMS,
  "[-+]?[0-9]+(?:_[0-9]+)*\\.[0-9_]*(?:[eE][-+]?[0-9]+)?",
  "[-+]?[0-9]+(?:_[0-9]+)*[eE][-+]?[0-9]+",
);
const MAY_BE_NUMBER = /^[-+.0-9]/;

function anyOf(...forms: string[]): RegExp {
  return new RegExp(`^(?:${forms.join("|")})$`);
}

/** The typed value of an unquoted word, as OmegaConf reads it: dates stay texts. */
export function plainScalar(text: string): ScalarValue {
  if (text.length <= LONGEST_WORD) {
    if (NULLS.has(text)) return null;
    const truth = BOOLEANS.get(text);
    if (truth !== undefined) return truth;
  }
  if (!MAY_BE_NUMBER.test(text)) return text;
  if (INTEGER.test(text)) return integerValue(text) ?? text;
  return OMEGACONF_FLOAT.test(text) ? (floatValue(text) ?? text) : text;
}

/** The value of a scalar with the tag `int`; undefined where Python raises. */
export function integerValue(text: string): number | bigint | undefined {
  const digits = text.replaceAll("_", "");
  const value = magnitude(digits.replace(/^[-+]/, ""));
  return value === undefined ? undefined : narrow(digits.startsWith("-") ? -value : value);
}

function magnitude(digits: string): bigint | undefined {
  if (digits === "0") return 0n;
  if (/^0[bx]/.test(digits)) return /^0(?:b[01]+|x[0-9A-Fa-f]+)$/.test(digits) ? BigInt(digits) : undefined;
  if (digits.startsWith("0"))
    return /^0o?[0-7]+$/.test(digits) ? BigInt(`0o${digits.replace(/^0o?/, "")}`) : undefined;
  let total = 0n;
  for (const part of digits.split(":")) {
    const value = parsePyInt(part);
    if (value === undefined) return undefined;
    total = total * 60n + value;
  }
  return total;
}

/** The value of a scalar with the tag `float`; undefined where Python raises. */
export function floatValue(text: string): number | PyFloat | undefined {
  const lower = text.replaceAll("_", "").toLowerCase();
  const sign = lower.startsWith("-") ? -1 : 1;
  const body = lower.replace(/^[-+]/, "");
  if (body === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (body === ".nan") return Number.NaN;
  let total = 0;
  for (const part of body.split(":")) {
    const value = parsePyFloat(part);
    if (value === undefined) return undefined;
    total = total * 60 + value;
  }
  return asFloat(sign * total);
}

/** A Python float: a PyFloat where a JavaScript number would be taken for an integer. */
export function asFloat(value: number): number | PyFloat {
  return Number.isInteger(value) && !Object.is(value, -0) ? new PyFloat(value) : value;
}

/** A number where it is exact, else the bigint. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function spellings(word: string): string[] {
  return [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()];
}
