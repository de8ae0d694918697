import { entriesOf, isMapping } from "nemo-gym/verify";

/** The schema cannot be made strict: its `properties` has no names. */
export class UnusableSchemaError extends Error {}

/**
 * Requires every declared property and forbids all others, in every object that is reachable through objects (lists such as `anyOf`
 * are not entered). Modifies the schema.
 */
export function strictify(schema: unknown): void {
  if (!isMapping(schema) || schema instanceof Map) return;
  const fields = schema as Record<string, unknown>;
  if (Object.hasOwn(fields, "properties")) {
    fields["required"] = namesIn(fields["properties"]);
    fields["additionalProperties"] = false;
  }
  for (const [, value] of entriesOf(fields)) strictify(value);
}

/** The result of Python's `list()` for the value. */
function namesIn(properties: unknown): unknown[] {
  if (isMapping(properties)) return entriesOf(properties).map(([name]) => name);
  if (Array.isArray(properties)) return [...properties];
  if (typeof properties === "string") return Array.from(properties);
  throw new UnusableSchemaError("'properties' is not an object");
}
