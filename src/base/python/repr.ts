import { GymError } from "../errors.ts";
import { orderedKeys } from "./json/key-order.ts";
import { floatRepr } from "./numbers/float-text.ts";
import { PyFloat } from "./numbers/py-float.ts";

const MAX_DEPTH = 1000;

/** A value has no Python text. */
export class ReprError extends GymError {
  constructor(message: string) {
    super("PYTHON_REPR", message);
  }
}

/** Python's `str(value)` of JSON data: strings unchanged, other values as `repr`. */
export function pyStr(value: unknown): string {
  return typeof value === "string" ? value : pyRepr(value);
}

/** Python's `repr(value)` of JSON data: `True`, `None`, `1.0`, `['red', 'blue']`, `{'lang': 'fr'}`. */
export function pyRepr(value: unknown): string {
  return reprOf(value, 0);
}

/** Python's `ascii(value)`: `repr` with characters outside ASCII escaped. */
export function pyAscii(value: unknown): string {
  return pyRepr(value).replace(/[^\x00-\x7f]/gu, escapeCodePoint);
}

/** The Python type name of a JSON value. */
export function pyTypeName(value: unknown): string {
  if (value === null || value === undefined) return "NoneType";
  if (value instanceof PyFloat) return "float";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return Number.isInteger(value) && !Object.is(value, -0) ? "int" : "float";
    case "string":
      return "str";
    default:
      return "dict";
  }
}

function reprOf(value: unknown, depth: number): string {
  if (value === null || value === undefined) return "None";
  if (value instanceof PyFloat) return floatRepr(value);
  switch (typeof value) {
    case "boolean":
      return value ? "True" : "False";
    case "string":
      return stringRepr(value);
    case "bigint":
      return value.toString();
    case "number":
      return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value).toString() : floatRepr(value);
    case "object":
      break;
    default:
      throw new ReprError(`A ${typeof value} has no Python text.`);
  }
  if (depth >= MAX_DEPTH)
    throw new ReprError(`The value is nested deeper than ${MAX_DEPTH} levels, or contains itself.`);
  if (Array.isArray(value)) return `[${value.map((item) => reprOf(item, depth + 1)).join(", ")}]`;
  const members = value as Record<string, unknown>;
  const parts = orderedKeys(members).map((key) => `${stringRepr(key)}: ${reprOf(members[key], depth + 1)}`);
  return `{${parts.join(", ")}}`;
}

/** Characters that Python's `str.isprintable` rejects, and the space: controls, formats, surrogates, unassigned, separators. */
const notPrintable = /[\p{C}\p{Z}]/gu;

/** Python's `repr` of a string: in single quotes, or in double quotes if the text has single quotes but no double ones. */
export function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll(quote, `\\${quote}`)
    .replace(notPrintable, (character) => (character === " " ? " " : escapeCodePoint(character)));
  return quote + escaped + quote;
}

function escapeCodePoint(character: string): string {
  switch (character) {
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
  }
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}
