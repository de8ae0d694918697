import { GymError } from "../../errors.ts";
import { byCodePoint } from "../code-points.ts";
import { floatCompact, floatRepr } from "../numbers/float-text.ts";
import { PyFloat, pyFloatPlainWrites } from "../numbers/py-float.ts";
import { anyKeyOrderNoted, orderedKeys } from "./key-order.ts";

/** The limit of Python's writer. */
const MAX_DEPTH = 1000;

export interface DumpsOptions {
  /** Spaces per level. Without it, the text is one line. */
  indent?: number;
  /** Write characters outside ASCII as \uXXXX (default true). */
  ensureAscii?: boolean;
  /** Order the keys of every object by code point (default false). */
  sortKeys?: boolean;
  /** Separators of items, and of key and value. Default: `", "` (`","` with an indent) and `": "`. */
  separators?: readonly [item: string, key: string];
}

/** A value cannot be written as JSON. */
export class JsonWriteError extends GymError {
  constructor(message: string) {
    super("JSON_NOT_SERIALIZABLE", message);
  }
}

interface Style {
  item: string;
  key: string;
  indent: string | undefined;
  sortKeys: boolean;
  string: (text: string) => string;
  float: (value: number) => string;
}

/**
 * Writes JSON like Python's `json.dumps`: `", "` and `": "`, non-ASCII escaped, floats in their shortest form, NaN and Infinity
 * as they are. Leaves out undefined members.
 */
export function dumps(value: unknown, options: DumpsOptions = {}): string {
  const indent = options.indent === undefined ? undefined : " ".repeat(options.indent);
  const [item, key] = options.separators ?? [indent === undefined ? ", " : ",", ": "];
  const string = (options.ensureAscii ?? true) ? asciiString : JSON.stringify;
  return write(
    value,
    { item, key, indent, sortKeys: options.sortKeys ?? false, string, float: pythonFloat },
    0,
    "",
  );
}

/**
 * Writes JSON in the compact style of result files: no spaces, non-ASCII unescaped, NaN and infinities as null. As fast as
 * `JSON.stringify`, unless that would change numbers or the order of keys.
 */
export function dumpsCompact(value: unknown, options: { indent?: number } = {}): string {
  const before = pyFloatPlainWrites();
  let text: string | undefined;
  try {
    text = JSON.stringify(value, undefined, options.indent);
  } catch {
    // The value has a bigint, which our writer supports, or it is nested too deeply, which our writer reports.
  }
  if (
    text !== undefined &&
    pyFloatPlainWrites() === before &&
    !(anyKeyOrderNoted() && wholeNumberKey.test(text))
  ) {
    return text;
  }
  const indent = options.indent === undefined ? undefined : " ".repeat(options.indent);
  const key = indent === undefined ? ":" : ": ";
  return write(
    value,
    { item: ",", key, indent, sortKeys: false, string: JSON.stringify, float: compactFloat },
    0,
    "",
  );
}

const wholeNumberKey = /"(?:0|[1-9]\d*)":/;

function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return floatRepr(value);
}

function compactFloat(value: number): string {
  return Number.isFinite(value) ? floatCompact(value) : "null";
}

/** Text without escapes in JSON: printable ASCII without quotes and backslashes. */
const plainText = /^[ !#-[\]-~]*$/;
const outsidePrintableAscii = /[^ -~]/;
const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function asciiString(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  const quoted = JSON.stringify(text);
  const first = quoted.search(outsidePrintableAscii);
  return first === -1 ? quoted : quoted.slice(0, first) + escapeUnits(quoted, first);
}

function escapeUnits(text: string, start: number): string {
  let result = "";
  let copied = start;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x20 && unit <= 0x7e) continue;
    result += `${text.slice(copied, index)}\\u${hexBytes[unit >> 8]}${hexBytes[unit & 0xff]}`;
    copied = index + 1;
  }
  return result + text.slice(copied);
}

function write(value: unknown, style: Style, depth: number, pad: string): string {
  switch (typeof value) {
    case "string":
      return style.string(value);
    case "number":
      return Number.isInteger(value) && !Object.is(value, -0) ? integerText(value) : style.float(value);
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return value.toString();
    case "undefined":
      return "null";
    case "object":
      break;
    default:
      throw new JsonWriteError(`A ${typeof value} has no JSON text.`);
  }
  if (value === null) return "null";
  if (value instanceof PyFloat) return style.float(value.value);
  if (depth >= MAX_DEPTH)
    throw new JsonWriteError(`The value is nested deeper than ${MAX_DEPTH} levels, or contains itself.`);
  return Array.isArray(value) ? writeArray(value, style, depth, pad) : writeObject(value, style, depth, pad);
}

function integerText(value: number): string {
  return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
}

function writeArray(items: unknown[], style: Style, depth: number, pad: string): string {
  if (items.length === 0) return "[]";
  const inner = style.indent === undefined ? "" : pad + style.indent;
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += style.item;
    if (style.indent !== undefined) text += `\n${inner}`;
    text += write(items[index], style, depth + 1, inner);
  }
  return `${text}${style.indent === undefined ? "" : `\n${pad}`}]`;
}

function writeObject(object: object, style: Style, depth: number, pad: string): string {
  const members = object as Record<string, unknown>;
  const keys = style.sortKeys ? Object.keys(members).sort(byCodePoint) : orderedKeys(members);
  const inner = style.indent === undefined ? "" : pad + style.indent;
  let text = "";
  for (const key of keys) {
    const member = members[key];
    if (member === undefined) continue;
    if (text !== "") text += style.item;
    if (style.indent !== undefined) text += `\n${inner}`;
    text += `${style.string(key)}${style.key}${write(member, style, depth + 1, inner)}`;
  }
  if (text === "") return "{}";
  return `{${text}${style.indent === undefined ? "" : `\n${pad}`}}`;
}
