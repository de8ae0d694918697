/** Types, equality and identity of JSON Schema over data as Python's parsers return it. */
import { isPyFloat, PyFloat } from "nemo-gym/python";
import { entriesOf, hasKey, isMapping, memberAt, OpaqueValue, sizeOf } from "nemo-gym/verify";

/** The numeric value; booleans are not numbers. */
export function numeric(value: unknown): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return value instanceof PyFloat ? value.value : undefined;
}

export type JsonType = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

export function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "array":
      return Array.isArray(value);
    case "object":
      return isMapping(value);
    case "number":
      return numeric(value) !== undefined;
    case "integer": {
      const number = numeric(value);
      return typeof number === "bigint" || Number.isInteger(number);
    }
    default:
      return false;
  }
}

/** Equality of JSON Schema: 1 and 1.0 are equal, 1 and true are not, at any depth. */
export function equalValues(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  const a = numeric(left);
  const b = numeric(right);
  // biome-ignore lint/suspicious/noDoubleEquals: a large integer and a float compare by value
  if (a !== undefined && b !== undefined) return a == b;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => equalValues(item, right[index]));
  }
  if (left instanceof OpaqueValue && right instanceof OpaqueValue) {
    return left.kind === right.kind && left.text === right.text;
  }
  if (!isMapping(left) || !isMapping(right) || sizeOf(left) !== sizeOf(right)) return false;
  return entriesOf(left).every(
    ([key, value]) => hasKey(right, key) && equalValues(value, memberAt(right, key)),
  );
}

/** A text that is equal for equal values and different otherwise; NaN equals nothing. */
export function identityOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  const number = numeric(value);
  if (number !== undefined) {
    if (Number.isNaN(number)) return `nan${nans++}`;
    return Number.isInteger(number) ? BigInt(number).toString() : String(number);
  }
  if (Array.isArray(value)) return `[${value.map(identityOf).join()}]`;
  if (value instanceof OpaqueValue) return `<${value.kind} ${value.text}>`;
  if (!isMapping(value)) return String(value);
  const members = entriesOf(value).map(([key, member]) => `${identityOf(key)}:${identityOf(member)}`);
  return `{${members.sort().join()}}`;
}

let nans = 0;

/** Whether a number is a multiple of another, with the rounding of doubles; undefined where Python raises an error. */
export function isMultiple(value: unknown, divisor: unknown): boolean | undefined {
  const dividend = numeric(value);
  const factor = numeric(divisor);
  if (dividend === undefined || factor === undefined) return undefined;
  if (!isPyFloat(divisor)) {
    if (typeof dividend === "bigint" || typeof factor === "bigint") {
      if (!isOfType(value, "integer")) return undefined;
      return BigInt(dividend) % BigInt(factor) === 0n;
    }
    return dividend % factor === 0;
  }
  const quotient = Number(dividend) / Number(factor);
  if (Number.isNaN(quotient) || !Number.isFinite(Number(dividend))) return undefined;
  return Number.isFinite(quotient) ? Number.isInteger(quotient) : exactMultiple(dividend, Number(factor));
}

/** For quotients beyond the range of doubles. */
function exactMultiple(dividend: number | bigint, factor: number): boolean {
  const left = typeof dividend === "bigint" ? { mantissa: dividend, exponent: 0 } : binary(dividend);
  const right = binary(factor);
  const shift = left.exponent - right.exponent;
  const [a, b] =
    shift >= 0
      ? [left.mantissa << BigInt(shift), right.mantissa]
      : [left.mantissa, right.mantissa << BigInt(-shift)];
  return a % b === 0n;
}

/** A finite double as mantissa × 2^exponent. */
function binary(value: number): { mantissa: bigint; exponent: number } {
  let exponent = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent--;
  }
  return { mantissa: BigInt(mantissa), exponent };
}
