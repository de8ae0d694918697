import { z } from "zod";
import { getCloseMatches } from "../python/difflib.ts";

/** Similarity above which an unknown key counts as a misspelling. Other keys may belong to another version or program. */
const NEARNESS = 0.85;
/** One wrong letter changes a larger part of a short key: up to this length less similarity is enough. */
const SHORT_KEY = 6;
const SHORT_NEARNESS = 0.75;

/** The known key that `key` probably means, whether or not the config sets that one too. */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  const isShort = key.length <= SHORT_KEY;
  // Short words also resemble each other by chance (`cost`, `host`), but a typing mistake seldom is in the first letter.
  const candidates = isShort ? known.filter((name) => name[0] === key[0]) : known;
  return getCloseMatches(key, candidates, 1, isShort ? SHORT_NEARNESS : NEARNESS)[0];
}

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
    const nearest = nearestKey(key, known);
    if (nearest !== undefined) yield `${key} has no effect: nothing reads it. Did you mean '${nearest}'?`;
  }
}

/** The keys of an object schema, also inside of `z.preprocess`. */
export function keysOf(schema: z.ZodType): string[] | undefined {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? keysOf(schema.def.out as z.ZodType) : undefined;
}
