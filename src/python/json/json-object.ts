import { PyFloat } from "../numbers/py-float.ts";

/** A JSON object as it came over the wire or out of a file. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object: not null, not an array, not a number that keeps its spelling. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof PyFloat);
}
