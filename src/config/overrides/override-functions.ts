import { floatRepr, isPyFloat, PyFloat, parsePyFloat, parsePyInt } from "../../base/python/numbers/door.ts";
import { type ConfigNode, dict, listNode, type Origin, type ScalarValue, scalar } from "../node.ts";
import { asFloat, narrow } from "../yaml/scalars.ts";

type Cast = (value: ScalarValue) => ScalarValue | undefined;

/** Functions of Hydra that make a sweep: several runs from one override. */
export const SWEEPS: ReadonlySet<string> = new Set([
  "choice",
  "range",
  "interval",
  "glob",
  "sort",
  "shuffle",
  "tag",
]);

/** `int(x)`, `float(x)`, `str(x)` and `bool(x)`, with the conversions of Python. */
export const CASTS: ReadonlyMap<string, Cast> = new Map<string, Cast>([
  ["int", toInteger],
  ["float", toFloat],
  ["str", toText],
  ["bool", toBoolean],
]);

/** Applies a cast to a value, or to all members of a list or mapping; undefined if a conversion fails. */
export function castValue(node: ConfigNode, cast: Cast, origin: Origin): ConfigNode | undefined {
  if (node.kind === "list") {
    const items = node.items.map((item) => castValue(item, cast, origin));
    return items.every((item) => item !== undefined) ? listNode(origin, items) : undefined;
  }
  if (node.kind === "dict") {
    const result = dict(origin);
    for (const [key, member] of node.entries) {
      const value = castValue(member, cast, origin);
      if (value === undefined) return undefined;
      result.entries.set(key, value);
    }
    return result;
  }
  const value = cast(node.value);
  return value === undefined ? undefined : scalar(value, origin);
}

function toInteger(value: ScalarValue): ScalarValue | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "string") {
    const integer = parsePyInt(value);
    return integer === undefined ? undefined : narrow(integer);
  }
  const number = numberFrom(value);
  return number === undefined || !Number.isFinite(number) ? undefined : narrow(BigInt(Math.trunc(number)));
}

function toFloat(value: ScalarValue): ScalarValue | undefined {
  const number = typeof value === "string" ? parsePyFloat(value) : numberFrom(value);
  return number === undefined ? undefined : asFloat(number);
}

function toText(value: ScalarValue): ScalarValue | undefined {
  if (value === null) return undefined;
  return isPyFloat(value) ? floatRepr(value) : String(value);
}

function toBoolean(value: ScalarValue): ScalarValue | undefined {
  if (typeof value !== "string") return Boolean(value instanceof PyFloat ? value.value : value);
  const lower = value.toLowerCase();
  if (lower === "true") return true;
  return lower === "false" ? false : undefined;
}

function numberFrom(value: ScalarValue): number | undefined {
  if (value instanceof PyFloat) return value.value;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}
