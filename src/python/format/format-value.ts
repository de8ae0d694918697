import { codePointLength } from "../code-points.ts";
import { isPyFloat } from "../numbers/py-float.ts";
import { pyStr, pyTypeName } from "../repr.ts";
import { formatFloat, formatInteger, pad } from "./format-number.ts";
import { checkGrouping, type FormatSpec, parseFormatSpec } from "./format-spec.ts";
import { TemplateError } from "./template-error.ts";

/** Python's `format(value, spec)` of JSON data. */
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
