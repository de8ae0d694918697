import { PyFloat } from "../../python/numbers/py-float.ts";
import type { ScalarValue } from "../node.ts";

/**
 * What an unquoted YAML word means: YAML 1.1 as PyYAML reads it, without dates, with OmegaConf's wider float pattern
 * (`1e3` is a float). The patterns are those of https://yaml.org/type/ where PyYAML follows them.
 */

const BOOLEANS = new Map<string, boolean>();
for (const word of ["yes", "true", "on"]) for (const form of spellings(word)) BOOLEANS.set(form, true);
for (const word of ["no", "false", "off"]) for (const form of spellings(word)) BOOLEANS.set(form, false);

const NULLS = new Set(["", "~", "null", "Null", "NULL"]);

/** No word of the two lists above is longer. */
const LONGEST_WORD = "false".length;

const INTEGER = new RegExp(
  [
    "[-+]?0b[01_]+",
    "[-+]?0[0-7_]+",
    "[-+]?(?:0|[1-9][0-9_]*)",
    "[-+]?0x[0-9a-fA-F_]+",
    "[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
  ].join("|"),
);

const FLOAT = new RegExp(
  [
    "[-+]?[0-9][0-9_]*\\.[0-9_]*(?:[eE][-+][0-9]+)?",
    "[-+]?[0-9]+(?:_[0-9]+)*\\.[0-9_]*(?:[eE][-+]?[0-9]+)?",
    "[-+]?[0-9]+(?:_[0-9]+)*[eE][-+]?[0-9]+",
    "\\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
    "[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*",
    "[-+]?\\.(?:inf|Inf|INF)",
    "\\.(?:nan|NaN|NAN)",
  ].join("|"),
);

const WHOLE_INTEGER = new RegExp(`^(?:${INTEGER.source})$`);
const WHOLE_FLOAT = new RegExp(`^(?:${FLOAT.source})$`);
const MAY_BE_NUMBER = /^[-+.0-9]/;

/** The typed value of an unquoted YAML word. */
export function plainScalar(text: string): ScalarValue {
  if (text.length <= LONGEST_WORD) {
    if (NULLS.has(text)) return null;
    const truth = BOOLEANS.get(text);
    if (truth !== undefined) return truth;
  }
  if (!MAY_BE_NUMBER.test(text)) return text;
  if (WHOLE_INTEGER.test(text)) return integerValue(text) ?? text;
  return WHOLE_FLOAT.test(text) ? floatValue(text) : text;
}

/** The integer of a YAML 1.1 integer word; undefined for words such as `0x_` that have no digits. */
export function integerValue(text: string): number | bigint | undefined {
  let digits = text.replaceAll("_", "");
  const negative = digits.startsWith("-");
  if (/^[-+]/.test(digits)) digits = digits.slice(1);
  let value: bigint;
  try {
    if (digits.includes(":"))
      value = digits.split(":").reduce((total, part) => total * 60n + BigInt(part), 0n);
    else if (/^0[0-7]+$/.test(digits)) value = BigInt(`0o${digits.slice(1)}`);
    else value = digits === "" ? 0n : BigInt(digits);
  } catch {
    return undefined;
  }
  return narrow(negative ? -value : value);
}

/** The float of a YAML 1.1 float word, as PyFloat where JavaScript could not tell it from an integer. */
export function floatValue(text: string): number | PyFloat {
  const lower = text.replaceAll("_", "").toLowerCase();
  const sign = lower.startsWith("-") ? -1 : 1;
  const body = lower.replace(/^[-+]/, "");
  if (body === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (body === ".nan") return Number.NaN;
  const magnitude = body.includes(":")
    ? body.split(":").reduce((total, part) => total * 60 + Number(part), 0)
    : Number(body);
  return asFloat(sign * magnitude);
}

/** A float that keeps being one. */
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
