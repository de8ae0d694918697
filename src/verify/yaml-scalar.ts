import { parsePyFloat, parsePyInt } from "../python/numbers/parse-number.ts";
import { PyFloat } from "../python/numbers/py-float.ts";
import { OpaqueValue } from "./mapping.ts";

/** The types YAML 1.1 gives to scalars, without the prefix of their tags. */
export type ScalarType = "null" | "bool" | "int" | "float" | "timestamp" | "merge" | "value" | "str";

const booleans = new Map([
  ["yes", true],
  ["no", false],
  ["true", true],
  ["false", false],
  ["on", true],
  ["off", false],
]);
const booleanWord = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;
const nullWord = /^(?:~|null|Null|NULL|)$/;
const integer =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const float =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const timestamp =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(?:Z|[-+](\d\d?)(?::(\d\d))?))?)?$/;
const shortDate = /^\d{4}-\d\d-\d\d$/;
/** A scalar longer than this is always text. */
const maxTyped = 10_000;

/** What a word without quotes and tag is taken for. */
export function typeOfWord(text: string): ScalarType {
  if (text.length > maxTyped) return "str";
  if (nullWord.test(text)) return "null";
  if (booleanWord.test(text)) return "bool";
  if (text === "<<") return "merge";
  if (text === "=") return "value";
  if (!/^[-+.0-9]/.test(text)) return "str";
  if (integer.test(text)) return "int";
  if (float.test(text)) return "float";
  return shortDate.test(text) || isFullTimestamp(text) ? "timestamp" : "str";
}

/** A date alone needs two digits for month and day; with a time one will do. */
function isFullTimestamp(text: string): boolean {
  return timestamp.exec(text)?.[4] !== undefined;
}

/** The value of a scalar of this type; undefined where Python raises. */
export function scalarValue(type: string, text: string): unknown {
  switch (type) {
    case "null":
      return null;
    case "bool":
      return booleans.get(text.toLowerCase());
    case "int":
      return integerValue(text);
    case "float":
      return floatValue(text);
    case "timestamp":
      return timestampValue(text);
    case "binary":
      return /^[A-Za-z0-9+/=\s]*$/.test(text) ? new OpaqueValue("bytes", text) : undefined;
    case "str":
      return text;
    default:
      return undefined;
  }
}

function narrow(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function integerValue(text: string): number | bigint | undefined {
  let digits = text.replaceAll("_", "");
  const negative = digits.startsWith("-");
  if (/^[-+]/.test(digits)) digits = digits.slice(1);
  const value = magnitude(digits);
  return value === undefined ? undefined : narrow(negative ? -value : value);
}

function magnitude(digits: string): bigint | undefined {
  if (digits === "0") return 0n;
  if (/^0[bx]/.test(digits)) return /^0(?:b[01]+|x[0-9A-Fa-f]+)$/.test(digits) ? BigInt(digits) : undefined;
  if (digits.startsWith("0"))
    return /^0o?[0-7]+$/.test(digits) ? BigInt(`0o${digits.replace(/^0o?/, "")}`) : undefined;
  if (!digits.includes(":")) return parsePyInt(digits);
  let total = 0n;
  for (const part of digits.split(":")) {
    const value = parsePyInt(part);
    if (value === undefined) return undefined;
    total = total * 60n + value;
  }
  return total;
}

function floatValue(text: string): number | PyFloat | undefined {
  const lower = text.replaceAll("_", "").toLowerCase();
  const sign = lower.startsWith("-") ? -1 : 1;
  const body = /^[-+]/.test(lower) ? lower.slice(1) : lower;
  if (body === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (body === ".nan") return Number.NaN;
  let total = 0;
  for (const part of body.split(":")) {
    const value = parsePyFloat(part);
    if (value === undefined) return undefined;
    total = total * 60 + value;
  }
  const value = sign * total;
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

/** Dates and times; one that does not exist (February 30th, 25 o'clock) makes the whole document invalid. */
function timestampValue(text: string): OpaqueValue | undefined {
  const [, year = "", month = "", day = "", hour, minute, second, , offsetHours, offsetMinutes] =
    timestamp.exec(text) ?? [];
  if (year === "") return undefined;
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(year) < 1 || Number(month) < 1 || Number(month) > 12) return undefined;
  if (Number(day) < 1 || Number(day) > days) return undefined;
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined;
  if (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0) >= 24 * 60) return undefined;
  return new OpaqueValue(hour === undefined ? "date" : "datetime", text);
}
