import { PyFloat } from "./numbers/py-float.ts";

/** Whether Python takes a JSON value for true: not null, false, 0, or an empty text, list or object. */
export function isTruthy(value: unknown): boolean {
  if (value instanceof PyFloat) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Number.isNaN(value) || Boolean(value);
}
