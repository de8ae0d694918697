import { GymError } from "../../errors.ts";
import { codePointLength } from "../code-points.ts";
import { fixedDigits, significantDigits } from "../numbers/exact.ts";
import { exponentForm, floatRepr } from "../numbers/float-text.ts";
import { isPyFloat } from "../numbers/py-float.ts";
import { pyStr, pyTypeName } from "../repr.ts";

/** A brace template is malformed, or needs something that the data does not have. */
export class TemplateError extends GymError {
  constructor(message: string, options?: { cause?: unknown; code?: string }) {
    super(options?.code ?? "TEMPLATE_INVALID", message, options);
  }
}

/** Python's `format(value, spec)` for JSON data. */
export function formatValue(value: unknown, spec: string): string {
  if (spec === "") return pyStr(value);
  const typeName = pyTypeName(value);
  if (typeof value === "string") return formatString(value, parseFormatSpec(spec, typeName));
  if (isPyFloat(value)) return formatFloat(Number(value), parseFormatSpec(spec, typeName));
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
    return formatInteger(BigInt(value), parseFormatSpec(spec, typeName));
  }
  throw new TemplateError(`unsupported format string passed to ${typeName}.__format__`);
}

function formatString(text: string, spec: FormatSpec): string {
  if (spec.type !== "" && spec.type !== "s") {
    throw new TemplateError(`Unknown format code '${spec.type}' for object of type 'str'`);
  }
  checkGrouping(spec, "s");
  if (spec.sign !== "") throw new TemplateError("Sign not allowed in string format specifier");
  if (spec.noNegativeZero)
    throw new TemplateError("Negative zero coercion (z) not allowed in string format specifier");
  if (spec.alternate) throw new TemplateError("Alternate form (#) not allowed in string format specifier");
  if (spec.align === "=") throw new TemplateError("'=' alignment not allowed in string format specifier");
  const cut = spec.precision === undefined ? text : [...text].slice(0, spec.precision).join("");
  return pad(
    cut,
    Math.max(0, spec.width - codePointLength(cut)),
    spec.align === "" ? "<" : spec.align,
    spec.fill,
  );
}

/** Maximum width and precision. */
const MAX_WIDTH = 10_000;

/** A parsed format specification: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`. */
interface FormatSpec {
  fill: string;
  /** Empty when not given. */
  align: "" | "<" | ">" | "=" | "^";
  sign: "" | "+" | "-" | " ";
  noNegativeZero: boolean;
  alternate: boolean;
  zeroPadded: boolean;
  width: number;
  grouping: "" | "," | "_";
  precision: number | undefined;
  type: string;
}

const SPEC =
  /^(?:(?:([\s\S])([<>=^]))|([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_]+)?(?:(\.)(\d+)?)?([\s\S])?$/u;

/** Parses the part after the colon of `{name:spec}`. */
function parseFormatSpec(text: string, typeName: string): FormatSpec {
  const match = SPEC.exec(text);
  if (match === null)
    throw new TemplateError(`Invalid format specifier '${text}' for object of type '${typeName}'`);
  const [
    ,
    fill,
    fillAlign,
    align,
    sign,
    z,
    alternate,
    zero,
    width,
    grouping = "",
    dot,
    precision,
    type = "",
  ] = match;
  if (grouping.length > 1)
    throw new TemplateError(`Only one of ',' and '_' may be given, once, not '${grouping}'`);
  if (dot !== undefined && precision === undefined)
    throw new TemplateError("Format specifier missing precision");
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: (fillAlign ?? align ?? "") as FormatSpec["align"],
    sign: (sign ?? "") as FormatSpec["sign"],
    noNegativeZero: z !== undefined,
    alternate: alternate !== undefined,
    // After an explicit fill, the 0 is only a digit of the width.
    zeroPadded: zero !== undefined && fill === undefined,
    width: bounded(width),
    grouping: grouping as FormatSpec["grouping"],
    precision: precision === undefined ? undefined : bounded(precision),
    type,
  };
}

function bounded(digits: string | undefined): number {
  const value = digits === undefined ? 0 : Number(digits);
  if (value > MAX_WIDTH)
    throw new TemplateError(`A width or precision of ${digits} is beyond the limit of ${MAX_WIDTH}`);
  return value;
}

/** Rejects a thousands separator for types that do not support it. */
function checkGrouping(spec: FormatSpec, type: string): void {
  if (spec.grouping === "" || /^[deEfFgG%]?$/.test(type) || (spec.grouping === "_" && /^[boxX]$/.test(type)))
    return;
  throw new TemplateError(`Cannot specify '${spec.grouping}' with '${type}'.`);
}

/** The text of a number before padding. Separators and zero padding apply to `digits` only. */
interface Parts {
  sign: string;
  prefix: string;
  digits: string;
  /** The fraction, exponent and percent sign; the whole text for `inf` and `nan`. */
  rest: string;
}

const radixes: Record<string, { radix: number; prefix: string }> = {
  b: { radix: 2, prefix: "0b" },
  o: { radix: 8, prefix: "0o" },
  x: { radix: 16, prefix: "0x" },
  X: { radix: 16, prefix: "0X" },
};

/** `format(value, spec)` of an int. The floating types convert it to a float. */
function formatInteger(value: bigint, spec: FormatSpec): string {
  const type = spec.type === "" ? "d" : spec.type;
  checkGrouping(spec, type);
  if (/^[eEfFgG%]$/.test(type)) return formatFloat(Number(value), spec);
  if (spec.precision !== undefined)
    throw new TemplateError("Precision not allowed in integer format specifier");
  if (spec.noNegativeZero)
    throw new TemplateError("Negative zero coercion (z) not allowed with an integer format code");
  if (type === "c") return formatCharacter(value, spec);
  const base = radixes[type];
  if (base === undefined && type !== "d" && type !== "n") {
    throw new TemplateError(`Unknown format code '${type}' for object of type 'int'`);
  }
  const digits = (value < 0n ? -value : value).toString(base?.radix ?? 10);
  return assemble(
    {
      sign: signText(value < 0n, spec),
      prefix: base !== undefined && spec.alternate ? base.prefix : "",
      digits: type === "X" ? digits.toUpperCase() : digits,
      rest: "",
    },
    spec,
    base === undefined ? 3 : 4,
  );
}

function formatCharacter(value: bigint, spec: FormatSpec): string {
  if (spec.sign !== "") throw new TemplateError("Sign not allowed with integer format specifier 'c'");
  if (spec.alternate)
    throw new TemplateError("Alternate form (#) not allowed with integer format specifier 'c'");
  if (value < 0n || value > 0x10ffffn) throw new TemplateError("%c arg not in range(0x110000)");
  return assemble({ sign: "", prefix: "", digits: "", rest: String.fromCodePoint(Number(value)) }, spec, 3);
}

/** `format(value, spec)` of a float. */
function formatFloat(value: number, spec: FormatSpec): string {
  checkGrouping(spec, spec.type);
  if (!/^[eEfFgGn%]?$/.test(spec.type)) {
    throw new TemplateError(`Unknown format code '${spec.type}' for object of type 'float'`);
  }
  let text = Number.isFinite(value) ? magnitudeText(value, spec) : Number.isNaN(value) ? "nan" : "inf";
  if (spec.type === "%") text += "%";
  if (/^[EFG]$/.test(spec.type)) text = text.toUpperCase();
  const roundsToZero = Number.isFinite(value) && !/[1-9]/.test(text.replace(/e.*/i, ""));
  const negative = (value < 0 || Object.is(value, -0)) && !(spec.noNegativeZero && roundsToZero);
  const digits = /^\d*/.exec(text)?.[0] ?? "";
  return assemble(
    { sign: signText(negative, spec), prefix: "", digits, rest: text.slice(digits.length) },
    spec,
    3,
  );
}

function magnitudeText(value: number, spec: FormatSpec): string {
  const magnitude = Math.abs(value);
  const precision = spec.precision ?? 6;
  switch (spec.type.toLowerCase()) {
    case "%":
      return percentText(magnitude, precision, spec);
    case "f":
      return withPoint(fixedDigits(magnitude, precision), spec);
    case "e": {
      const { digits, exponent } = significantDigits(magnitude, precision + 1);
      return withPoint(exponentForm(digits, exponent), spec);
    }
    case "":
      if (spec.precision === undefined) return withPoint(floatRepr(magnitude), spec);
      return generalText(magnitude, precision, spec, true);
    default:
      return generalText(magnitude, precision, spec, false);
  }
}

function percentText(magnitude: number, precision: number, spec: FormatSpec): string {
  const hundredfold = magnitude * 100;
  return Number.isFinite(hundredfold) ? withPoint(fixedDigits(hundredfold, precision), spec) : "inf";
}

/** The `g` form. Without a type, Python keeps one digit after the point and switches to exponents one place earlier. */
function generalText(magnitude: number, precision: number, spec: FormatSpec, keepsFraction: boolean): string {
  const count = Math.max(1, precision);
  const { digits, exponent } = significantDigits(magnitude, count);
  const kept = spec.alternate ? digits : digits.replace(/(?!^)0+$/, "");
  if (exponent < -4 || exponent >= count - (keepsFraction ? 1 : 0))
    return withPoint(exponentForm(kept, exponent), spec);
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${kept}`;
  const whole = kept.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = kept.slice(exponent + 1);
  if (fraction !== "") return `${whole}.${fraction}`;
  return keepsFraction ? `${whole}.0` : withPoint(whole, spec);
}

/** With `#` the text has a point even if no digit follows it. */
function withPoint(text: string, spec: FormatSpec): string {
  return spec.alternate && !text.includes(".") ? text.replace(/^\d+/, "$&.") : text;
}

function signText(negative: boolean, spec: FormatSpec): string {
  if (negative) return "-";
  return spec.sign === "+" || spec.sign === " " ? spec.sign : "";
}

function assemble(parts: Parts, spec: FormatSpec, groupSize: number): string {
  const align = spec.align === "" ? (spec.zeroPadded ? "=" : ">") : spec.align;
  const { sign, prefix, rest } = parts;
  const padsWithin = spec.fill === "0" && align === "=";
  const room = padsWithin ? spec.width - sign.length - prefix.length - rest.length : 0;
  const digits = parts.digits === "" ? "" : grouped(parts.digits, spec.grouping, groupSize, room);
  const length = sign.length + prefix.length + digits.length + [...rest].length;
  const missing = Math.max(0, spec.width - length);
  if (align === "=") return sign + prefix + spec.fill.repeat(missing) + digits + rest;
  return pad(sign + prefix + digits + rest, missing, align, spec.fill);
}

/** Digits with separators, padded with zeros to `minWidth` characters. */
function grouped(digits: string, separator: string, size: number, minWidth: number): string {
  if (separator === "") return digits.padStart(minWidth, "0");
  const groups: string[] = [];
  let remaining = digits;
  let room = minWidth;
  for (;;) {
    const length = Math.min(size, Math.max(remaining.length, room, 1));
    groups.unshift(remaining.slice(-length).padStart(length, "0"));
    remaining = remaining.slice(0, -length);
    room -= length;
    if (remaining === "" && room <= 0) return groups.join(separator);
    room--;
  }
}

/** Adds `missing` fill characters to `text`. */
function pad(text: string, missing: number, align: string, fill: string): string {
  if (align === "<") return text + fill.repeat(missing);
  const left = align === "^" ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}
