import { doubleParts } from "nemo-gym/python";
import { type Kwargs, KwargsError } from "../kwargs.ts";

/** Whether a count has the requested relation to a number of the arguments. */
export function isRelated(count: number, kwargs: Kwargs, number: string, relation = "relation"): boolean {
  const limit = kwargs.number(number);
  switch (kwargs.text(relation)) {
    case "at least":
      return count >= limit;
    case "equal to":
      return count === limit;
    case "less than":
      return count < limit;
    default:
      throw new KwargsError(`${relation} must be 'at least', 'equal to' or 'less than'`);
  }
}

/** A list of texts, which may be empty. */
export function texts(kwargs: Kwargs, name: string): readonly string[] {
  const value = kwargs.value(name);
  return Array.isArray(value) && value.length === 0 ? [] : kwargs.list(name);
}

type Fraction = readonly [numerator: bigint, denominator: bigint];
const INFINITY: Fraction = [1n, 0n];

/** Whether a ratio of counts lies between two fractions of the arguments; a denominator of 0 is infinity. */
export function isRatioWithin(over: number, under: number, kwargs: Kwargs): boolean {
  if (over === 0 && under === 0) return false;
  const least = fraction(kwargs.value("min_fraction"));
  const most = fraction(kwargs.value("max_fraction"));
  const ratio: Fraction = under === 0 ? INFINITY : [BigInt(over), BigInt(under)];
  return isAtMost(least, most) && isAtMost(least, ratio) && isAtMost(ratio, most);
}

function isAtMost(left: Fraction, right: Fraction): boolean {
  if (right[1] === 0n) return true;
  return left[1] !== 0n && left[0] * right[1] <= right[0] * left[1];
}

/** A number, `inf`, a decimal number or a fraction such as `3/4`. */
function fraction(value: unknown): Fraction {
  if (typeof value === "number" && Number.isFinite(value)) {
    const { negative, mantissa, exponent } = doubleParts(value);
    const signed = negative ? -mantissa : mantissa;
    return exponent < 0 ? [signed, 1n << BigInt(-exponent)] : [signed << BigInt(exponent), 1n];
  }
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (text === "inf") return INFINITY;
  const [, whole = "", under, decimals = ""] = /^([+-]?\d+)(?:\/(\d+)|\.(\d*))?$/.exec(text) ?? [];
  if (whole === "" || (under !== undefined && /^0+$/.test(under)))
    throw new KwargsError("a fraction must be 'inf', a number or two numbers with a slash");
  if (under !== undefined) return [BigInt(whole), BigInt(under)];
  return [BigInt(`${whole}${decimals}`), 10n ** BigInt(decimals.length)];
}
