import type { z } from "zod";
import type { JsonObject } from "../../python/json/json-object.ts";
import { ValidationError, zodDetail } from "../../wire/schemas/validation.ts";

/** Parses with a definition's schema. An invalid value becomes a 422 that names the field. */
export function parseWith(
  schema: z.ZodType | undefined,
  value: unknown,
  at: readonly (string | number)[],
): unknown {
  if (!schema) return value;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ValidationError(zodDetail(result.error, at, value), { cause: result.error });
}

export function requireBody(body: unknown): unknown {
  if (body === undefined) {
    throw new ValidationError([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]);
  }
  return body;
}

export function requireObject(body: unknown): JsonObject {
  const value = requireBody(body);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new ValidationError([
    { type: "model_attributes_type", loc: ["body"], msg: "Input should be a valid dictionary", input: value },
  ]);
}

/** Requires fields of a body. The error names all missing ones. */
export function requireFields(body: JsonObject, ...fields: readonly string[]): void {
  for (const field of fields)
    if (body[field] === undefined)
      throw missingFields(
        fields.filter((name) => body[name] === undefined),
        body,
      );
}

export function missingFields(fields: readonly string[], input: unknown): ValidationError {
  return new ValidationError(
    fields.map((field) => ({ type: "missing", loc: ["body", field], msg: "Field required", input })),
  );
}
