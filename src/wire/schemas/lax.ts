import { z } from "zod";
import { type CoercionProblem, coerceBool, coerceFloat, coerceInt, isRejection } from "./coerce.ts";

function lax<T extends number | boolean>(jsonType: string, coerce: (value: unknown) => T | CoercionProblem) {
  // The coercion checks the value. The inner schema only describes the result for JSON Schema.
  const coerced = z.unknown().meta({ type: jsonType }) as unknown as z.ZodType<T>;
  return z.preprocess((value, context) => {
    const result = coerce(value);
    if (!isRejection(result)) return result;
    context.issues.push({
      code: "custom",
      message: value === undefined ? "Field required" : result.msg,
      input: value,
      params: { pydantic: value === undefined ? "missing" : result.rejected },
    });
    return z.NEVER;
  }, coerced);
}

const int = lax("integer", coerceInt);
const float = lax("number", coerceFloat);
const bool = lax("boolean", coerceBool);
const string = z.string();

/** An integer field that also accepts `"5"`, `5.0` and booleans, like the Python servers. It rejects `5.5`. */
export const laxInt = () => int;

/** A number field that also accepts numeric text and booleans. */
export const laxFloat = () => float;

/** A boolean field that also accepts 0, 1 and words such as `"yes"`, `"off"` and `"true"`. */
export const laxBool = () => bool;

/** A text field that accepts only strings. */
export const strictStr = () => string;
