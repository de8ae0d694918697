import { pyEquals } from "../../base/python/door.ts";
import { dumps, type JsonObject, loads } from "../../base/python/json/door.ts";
import { isPyFloat, isPyInt, PyFloat, parsePyFloat } from "../../base/python/numbers/door.ts";

const OPTIONS = { allowNonFinite: true };

/** Whether a returned value agrees with the expected one: equal, equal as JSON text, or close numbers, alone or in a list. */
export function agrees({ json, equal }: JsonObject, expected: unknown): boolean {
  if (typeof json === "string" && json === dumps(expected)) return true;
  if (typeof equal !== "string") return false;
  const value = loads(equal, OPTIONS);
  if (isClose(value, expected)) return true;
  if (!Array.isArray(value) || !Array.isArray(expected) || value.length !== expected.length) return false;
  return value.every((item, index) => isClose(item, expected[index]));
}

/** Equal, or numbers within the tolerance of numpy's `allclose`. One side must be a float, and neither a bool. */
function isClose(value: unknown, expected: unknown): boolean {
  if (pyEquals(value, expected)) return true;
  if (!isPyFloat(value) && !isPyFloat(expected)) return false;
  const [first, second] = [asFloat(value), asFloat(expected)];
  if (first === undefined || second === undefined) return false;
  return first === second || Math.abs(first - second) <= 1e-8 + 1e-5 * Math.abs(second);
}

function asFloat(value: unknown): number | undefined {
  if (value instanceof PyFloat) return value.value;
  if (isPyFloat(value)) return value as number;
  if (isPyInt(value)) return Number(value);
  return typeof value === "string" ? parsePyFloat(value) : undefined;
}
