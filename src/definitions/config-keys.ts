import { z } from "zod";
import { getCloseMatches } from "../python/difflib.ts";

/** How alike a key and a known one must be to be called a misspelling; others may be of another version, or for somebody else. */
const NEARNESS = 0.85;

/** A sentence for each key that nobody reads (`others` have readers elsewhere) but that nearly is one the schema has. */
export function* misspeltKeys(
  schema: z.ZodType,
  config: Readonly<Record<string, unknown>>,
  others: readonly string[] = [],
): Generator<string> {
  const known = keysOf(schema);
  if (!known) return;
  for (const key of Object.keys(config)) {
    if (known.includes(key) || others.includes(key)) continue;
    const unset = known.filter((name) => config[name] === undefined);
    const [nearest] = getCloseMatches(key, unset, 1, NEARNESS);
    if (nearest !== undefined) yield `${key} has no effect: nothing reads it. Did you mean '${nearest}'?`;
  }
}

/** The keys of an object schema, also behind a step that prepares its input. */
export function keysOf(schema: z.ZodType): string[] | undefined {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? keysOf(schema.def.out as z.ZodType) : undefined;
}
