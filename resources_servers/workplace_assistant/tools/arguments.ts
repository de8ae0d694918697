import { PyFloat, parsePyInt, pyEquals } from "nemo-gym/python";
import { NOT_A_TIME, parseTimestamp, type Timestamp } from "../timestamp.ts";
import { ToolError } from "../tool-error.ts";

/** Keyword arguments of a call; omitted arguments are absent. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Python's `not value`. */
export function isFalsy(value: unknown): boolean {
  if (value instanceof PyFloat) return value.value === 0;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return Number.isNaN(value) ? false : !value;
}

/** Python's `value in [...]` for a list of strings. */
export function isOneOf(value: unknown, choices: readonly string[]): boolean {
  return choices.some((choice) => pyEquals(choice, value));
}

/** `value.lower()`. */
export function lowered(value: unknown): string {
  if (typeof value !== "string") throw new ToolError("only text has an attribute 'lower'");
  return value.toLowerCase();
}

/** A bound for the comparison with a text cell. Call it only if there is such a cell: otherwise Python never compares the bound. */
export function textBound(value: unknown): string {
  if (typeof value !== "string")
    throw new ToolError("comparison not supported between instances of different types");
  return value;
}

/** Parses a point in time; undefined if the text is not one. Numbers are nanoseconds. */
export function timestampOf(value: unknown): Timestamp | undefined {
  if (typeof value === "string") return parseTimestamp(value);
  if (typeof value === "number" || typeof value === "bigint")
    return { time: Number(value) / 1e6, zoned: false };
  if (value instanceof PyFloat) return { time: value.value / 1e6, zoned: false };
  if (value === null || value === undefined) return NOT_A_TIME;
  throw new ToolError("Cannot convert input to Timestamp");
}

/** The result of `int(value)` for a number of minutes; undefined if the text is not an integer. */
export function wholeMinutes(value: unknown): number | undefined {
  if (typeof value === "string") {
    const parsed = parsePyInt(value);
    return parsed === undefined ? undefined : Number(parsed);
  }
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  const number = value instanceof PyFloat ? value.value : value;
  if (typeof number !== "number") throw new ToolError("int() argument must be a string or a number");
  if (Number.isNaN(number)) return undefined;
  if (!Number.isFinite(number)) throw new ToolError("cannot convert float infinity to integer");
  return Math.trunc(number);
}

/** The new value of a cell, as an assignment to one selected row stores it. */
export function cellValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.length === 1) return value[0];
    throw new ToolError("Must have equal len keys and value when setting with an iterable");
  }
  if (typeof value === "object" && value !== null && !(value instanceof PyFloat)) {
    throw new ToolError("Incompatible indexer with a mapping");
  }
  return value;
}
