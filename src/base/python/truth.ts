import { PyFloat } from "./numbers/py-float.ts";

/** Python's truth of a JSON value: null, false, 0 and empty texts, lists and objects are false. */
export function isTruthy(value: unknown): boolean {
  if (value instanceof PyFloat) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Number.isNaN(value) || Boolean(value);
}

/** Python's `==` of JSON values: `1 == 1.0 == True`, dicts are equal in any order, and NaN equals nothing. */
export function pyEquals(left: unknown, right: unknown): boolean {
  const a = numberOf(left);
  const b = numberOf(right);
  // biome-ignore lint/suspicious/noDoubleEquals: an int beyond 2^53 and a float compare by value
  if (a !== undefined || b !== undefined) return a !== undefined && b !== undefined && a == b;
  if (typeof left === "string" || typeof right === "string") return left === right;
  if (left === null || left === undefined) return right === null || right === undefined;
  if (right === null || right === undefined) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => pyEquals(item, right[index]));
  }
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  return equalObjects(left as Record<string, unknown>, right as Record<string, unknown>);
}

function equalObjects(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && pyEquals(left[key], right[key]));
}

function numberOf(value: unknown): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof PyFloat ? value.value : undefined;
}
