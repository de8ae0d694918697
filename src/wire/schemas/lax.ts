import { z } from "zod";
import { PyFloat } from "../../python/numbers/py-float.ts";

/** Why a scalar was refused, named as pydantic names it. */
export interface Refusal {
  readonly refused: string;
  readonly msg: string;
}

const refusal = (refused: string, msg: string): Refusal => ({ refused, msg });

const INT_TYPE = refusal("int_type", "Input should be a valid integer");
const INT_PARSING = refusal(
  "int_parsing",
  "Input should be a valid integer, unable to parse string as an integer",
);
const INT_FRACTION = refusal(
  "int_from_float",
  "Input should be a valid integer, got a number with a fractional part",
);
const INT_SIZE = refusal(
  "int_parsing_size",
  "Unable to parse input string as an integer, exceeded maximum size",
);
const NOT_FINITE = refusal("finite_number", "Input should be a finite number");
const FLOAT_TYPE = refusal("float_type", "Input should be a valid number");
const FLOAT_PARSING = refusal(
  "float_parsing",
  "Input should be a valid number, unable to parse string as a number",
);
const BOOL_TYPE = refusal("bool_type", "Input should be a valid boolean");
const BOOL_PARSING = refusal("bool_parsing", "Input should be a valid boolean, unable to interpret input");

const INT_TEXT = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;
const FLOAT_TEXT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const SPECIAL_FLOAT_TEXT = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i;
const LONGEST_INT_TEXT = 4300;
const LARGEST_FLOAT_AS_INT = 2 ** 63;

/** Whether a coercion was refused. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refused" in value;
}

/** Reads an integer as pydantic's lax mode does: `5`, `5.0`, `"5"`, `" 5 "`, `"1_000"` and booleans; not `5.5`. */
export function coerceInt(value: unknown): number | Refusal {
  switch (typeof value) {
    case "number":
      if (Number.isSafeInteger(value)) return value + 0;
      if (!Number.isFinite(value)) return NOT_FINITE;
      if (!Number.isInteger(value)) return INT_FRACTION;
      return Math.abs(value) < LARGEST_FLOAT_AS_INT ? value : INT_SIZE;
    case "bigint":
      return Number(value);
    case "boolean":
      return value ? 1 : 0;
    case "string": {
      const text = value.trim();
      if (text.length > LONGEST_INT_TEXT) return INT_SIZE;
      return INT_TEXT.test(text) ? Number(text.replaceAll("_", "")) + 0 : INT_PARSING;
    }
    default:
      return value instanceof PyFloat ? coerceInt(value.value) : INT_TYPE;
  }
}

/** Reads a number as pydantic's lax mode does: numbers, numeric text (also `nan`, `inf`) and booleans. */
export function coerceFloat(value: unknown): number | Refusal {
  switch (typeof value) {
    case "number":
      return value;
    case "bigint":
      return Number(value);
    case "boolean":
      return value ? 1 : 0;
    case "string": {
      const text = value.trim();
      if (FLOAT_TEXT.test(text)) return Number(text.replaceAll("_", ""));
      const special = SPECIAL_FLOAT_TEXT.exec(text);
      if (!special) return FLOAT_PARSING;
      if (special[2] === undefined) return Number.NaN;
      return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    }
    default:
      return value instanceof PyFloat ? value.value : FLOAT_TYPE;
  }
}

const BOOLEAN_WORDS = new Map<string, boolean>([
  ...["1", "on", "t", "true", "y", "yes"].map((word): [string, boolean] => [word, true]),
  ...["0", "off", "f", "false", "n", "no"].map((word): [string, boolean] => [word, false]),
]);

/** Reads a boolean as pydantic's lax mode does: booleans, 0 and 1, and words such as `yes`, `off`, `T`. */
export function coerceBool(value: unknown): boolean | Refusal {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return BOOLEAN_WORDS.get(value.toLowerCase()) ?? BOOL_PARSING;
    case "number":
      if (value === 0 || value === 1) return value === 1;
      return Number.isInteger(value) && Math.abs(value) < LARGEST_FLOAT_AS_INT ? BOOL_PARSING : BOOL_TYPE;
    default:
      return value instanceof PyFloat ? coerceBool(value.value) : BOOL_TYPE;
  }
}

function lax<T extends number | boolean>(jsonType: string, coerce: (value: unknown) => T | Refusal) {
  // The coercion has checked the value already; the inner schema only describes the result for JSON Schema.
  const coerced = z.unknown().meta({ type: jsonType }) as unknown as z.ZodType<T>;
  return z.preprocess((value, context) => {
    const result = coerce(value);
    if (!isRefusal(result)) return result;
    context.issues.push({
      code: "custom",
      message: value === undefined ? "Field required" : result.msg,
      input: value,
      params: { pydantic: value === undefined ? "missing" : result.refused },
    });
    return z.NEVER;
  }, coerced);
}

const int = lax("integer", coerceInt);
const float = lax("number", coerceFloat);
const bool = lax("boolean", coerceBool);
const string = z.string();

/** An integer field that also takes `"5"`, `5.0` and booleans, as the Python servers do; refuses `5.5`. */
export const laxInt = () => int;

/** A number field that also takes numeric text and booleans. */
export const laxFloat = () => float;

/** A boolean field that also takes 0, 1 and the usual words (`"yes"`, `"off"`, `"true"`). */
export const laxBool = () => bool;

/** A text field: strings only; numbers, booleans and null are refused. */
export const strictStr = () => string;
