import type { z } from "zod";
import type { JsonObject } from "../../python/json/json-object.ts";
import { jsonSchemaOf } from "./openapi.ts";
import { WIRE_SCHEMAS } from "./wire-schemas.ts";

interface ObjectSchema {
  properties?: JsonObject;
  required?: string[];
  $defs?: JsonObject;
}

/** JSON Schema of the rows of a resources server: the request, what `row` declares, and what a start needs besides. */
export function rowSchemaOf({ row, seed }: { row?: z.ZodType; seed?: z.ZodType }): JsonObject {
  const parts = [row, seed].filter((schema) => schema !== undefined).map((schema) => jsonSchemaOf(schema));
  const own = parts as ObjectSchema[];
  const definitions = Object.assign({}, ...own.map(({ $defs }) => $defs)) as JsonObject;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      responses_create_params: WIRE_SCHEMAS.ResponseCreateParams,
      ...Object.assign({}, ...own.map(({ properties }) => properties)),
    },
    required: [...new Set(["responses_create_params", ...own.flatMap(({ required = [] }) => required)])],
    // Rows may hold whatever else their author needs.
    additionalProperties: true,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}
