import { z } from "zod";
import { getCloseMatches } from "../python/difflib.ts";

/** Similarity above which an unknown key counts as a misspelling. Other keys may belong to another version or program. */
const NEARNESS = 0.85;

/** A warning for each unknown key that is similar to a key of the schema. Keys in `others` are known elsewhere. */
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

/** The keys of an object schema, also inside of `z.preprocess`. */
export function keysOf(schema: z.ZodType): string[] | undefined {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? keysOf(schema.def.out as z.ZodType) : undefined;
}
