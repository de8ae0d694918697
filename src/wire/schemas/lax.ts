import { z } from "zod";
import { coerceBool, coerceFloat, coerceInt, isRefusal, type Refusal } from "./coerce-scalar.ts";

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
