import { TemplateError } from "./template-error.ts";

/** The largest width or precision a template may ask for. */
const MAX_WIDTH = 10_000;

/** A parsed format specification: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`. */
export interface FormatSpec {
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

const pattern =
  /^(?:(?:([\s\S])([<>=^]))|([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_]+)?(?:(\.)(\d+)?)?([\s\S])?$/u;

/** Parses the part after the colon of `{name:spec}`. */
export function parseFormatSpec(text: string, typeName: string): FormatSpec {
  const match = pattern.exec(text);
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
    // With an explicit fill the 0 is only a digit of the width.
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

/** Refuses a thousands separator with a type that has none. */
export function checkGrouping(spec: FormatSpec, type: string): void {
  if (spec.grouping === "" || /^[deEfFgG%]?$/.test(type) || (spec.grouping === "_" && /^[boxX]$/.test(type)))
    return;
  throw new TemplateError(`Cannot specify '${spec.grouping}' with '${type}'.`);
}
