import { isMapping, memberAt } from "nemo-gym/verify";
import type { KeywordCall } from "./keywords.ts";
import { SchemaProblem } from "./schema-problem.ts";

/** OpenAPI's `discriminator` beside `anyOf`, `oneOf` or `allOf`: the value of the property selects the schema. Undefined without one. */
export function followDiscriminator(call: KeywordCall): boolean | undefined {
  const discriminator = memberAt(call.schema, "discriminator");
  if (discriminator === undefined) return undefined;
  if (!isMapping(discriminator)) throw new SchemaProblem("TypeError: discriminator is not an object");
  const name = memberAt(discriminator, "propertyName");
  if (name === undefined) throw new SchemaProblem("KeyError: discriminator without propertyName");
  if (!isMapping(call.instance)) return false;
  const value = memberAt(call.instance, name);
  if (isFalsy(value)) return false;
  const mapping = memberAt(discriminator, "mapping");
  const mapped = isMapping(mapping) ? memberAt(mapping, value) : undefined;
  const reference = isFalsy(mapped) ? `#/components/schemas/${String(value)}` : mapped;
  if (typeof reference !== "string") return false;
  try {
    return call.validation.check(
      call.instance,
      call.validation.references.find(reference, call.base),
      call.at,
    );
  } catch (error) {
    if (error instanceof SchemaProblem) return false;
    throw error;
  }
}

function isFalsy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === false || value === 0 || value === "";
}
