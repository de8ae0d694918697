import { dumps } from "../../python/json/json-dumps.ts";
import { isObject } from "../../python/json/json-object.ts";
import { isPyFloat } from "../../python/numbers/py-float.ts";

const TOLERANCE_FROM_ONE = 5e-3;
const TOLERANCE_BELOW_ONE = 5e-4;
const MAX_DIFFERENCES = 20;

/**
 * The places where `previous` metrics are not confirmed by `current` ones, as readable lines; empty when they agree.
 * Both are values of the number-preserving reader. New keys do not count as a difference, nor does NaN in place of NaN.
 */
export function metricsDifferences(previous: unknown, current: unknown): string[] {
  const differences: string[] = [];
  compare(previous, current, "", differences);
  return differences.slice(0, MAX_DIFFERENCES);
}

function compare(previous: unknown, current: unknown, path: string, differences: string[]): void {
  if (isObject(previous) && isObject(current)) {
    for (const [key, value] of Object.entries(previous)) {
      const place = path === "" ? key : `${path} -> ${key}`;
      if (Object.hasOwn(current, key)) compare(value, current[key], place, differences);
      else differences.push(`${place}: was ${show(value)}, is gone`);
    }
    return;
  }
  if (Array.isArray(previous) && Array.isArray(current)) {
    if (!sameMembers(previous, current))
      differences.push(`${path}: was ${show(previous)}, is ${show(current)}`);
    return;
  }
  const agree =
    isPyFloat(previous) && isPyFloat(current)
      ? closeEnough(Number(previous), Number(current))
      : plainlyEqual(previous, current);
  if (!agree) differences.push(`${path}: was ${show(previous)}, is ${show(current)}`);
}

function sameMembers(previous: unknown[], current: unknown[]): boolean {
  if (previous.length !== current.length) return false;
  const unmatched = [...current];
  for (const item of previous) {
    const index = unmatched.findIndex((candidate) => metricsDifferences(item, candidate).length === 0);
    if (index === -1) return false;
    unmatched.splice(index, 1);
  }
  return true;
}

function closeEnough(previous: number, current: number): boolean {
  if (Object.is(previous, current) || previous === current) return true;
  const magnitude = Math.max(Math.abs(previous), Math.abs(current));
  return Math.abs(previous - current) <= (magnitude >= 1 ? TOLERANCE_FROM_ONE : TOLERANCE_BELOW_ONE);
}

/** Python's `==` on scalars: numbers and booleans by value, independent of their type. */
function plainlyEqual(previous: unknown, current: unknown): boolean {
  if (isNumeric(previous) && isNumeric(current)) {
    return typeof previous === "bigint" || typeof current === "bigint"
      ? previous === current
      : Number(previous) === Number(current);
  }
  return previous === current;
}

function isNumeric(value: unknown): boolean {
  return (
    typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" || isPyFloat(value)
  );
}

function show(value: unknown): string {
  const text = dumps(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
