import { PyFloat } from "../../base/python/numbers/door.ts";

/** Why a scalar was rejected, in the words of pydantic. */
export interface CoercionProblem {
  readonly rejected: string;
  readonly msg: string;
}

const rejection = (rejected: string, msg: string): CoercionProblem => ({ rejected, msg });

const NOT_INT = "Input should be a valid integer";
const INT_TYPE = rejection("int_type", NOT_INT);
const INT_PARSING = rejection("int_parsing", `${NOT_INT}, unable to parse string as an integer`);
const INT_FRACTION = rejection("int_from_float", `${NOT_INT}, got a number with a fractional part`);
const INT_SIZE = rejection(
  "int_parsing_size",
  "Unable to parse input string as an integer, exceeded maximum size",
);
const NOT_FINITE = rejection("finite_number", "Input should be a finite number");
const NOT_FLOAT = "Input should be a valid number";
const FLOAT_TYPE = rejection("float_type", NOT_FLOAT);
const FLOAT_PARSING = rejection("float_parsing", `${NOT_FLOAT}, unable to parse string as a number`);
const NOT_BOOL = "Input should be a valid boolean";
const BOOL_TYPE = rejection("bool_type", NOT_BOOL);
const BOOL_PARSING = rejection("bool_parsing", `${NOT_BOOL}, unable to interpret input`);

const INT_TEXT = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;
const FLOAT_TEXT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const SPECIAL_FLOAT_TEXT = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i;
const LONGEST_INT_TEXT = 4300;
const LARGEST_FLOAT_AS_INT = 2 ** 63;

export function isRejection(value: unknown): value is CoercionProblem {
  return typeof value === "object" && value !== null && "rejected" in value;
}

/** Reads an integer like the lax mode of pydantic: `5`, `5.0`, `"5"`, `" 5 "`, `"1_000"` and booleans, but not `5.5`. */
export function coerceInt(value: unknown): number | CoercionProblem {
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

/** Reads a number like the lax mode of pydantic: numbers, numeric text (also `nan`, `inf`) and booleans. */
export function coerceFloat(value: unknown): number | CoercionProblem {
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

const TRUE_WORDS = new Set(["1", "on", "t", "true", "y", "yes"]);
const FALSE_WORDS = new Set(["0", "off", "f", "false", "n", "no"]);

/** Reads a boolean like the lax mode of pydantic: booleans, 0 and 1, and words such as `yes`, `off`, `T`. */
export function coerceBool(value: unknown): boolean | CoercionProblem {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string": {
      const word = value.toLowerCase();
      return TRUE_WORDS.has(word) || (FALSE_WORDS.has(word) ? false : BOOL_PARSING);
    }
    case "number":
      if (value === 0 || value === 1) return value === 1;
      return Number.isInteger(value) && Math.abs(value) < LARGEST_FLOAT_AS_INT ? BOOL_PARSING : BOOL_TYPE;
    default:
      return value instanceof PyFloat ? coerceBool(value.value) : BOOL_TYPE;
  }
}
