import { compilePyRegex } from "nemo-gym/python";
import { SchemaProblem } from "./schema-problem.ts";

/** Whether a pattern is found in the key of a mapping; Python raises when the key is no string. */
export function matchesKey(pattern: string, key: unknown): boolean {
  if (typeof key !== "string") throw new SchemaProblem("TypeError: a key that is no string meets a pattern");
  return compilePyRegex(pattern).search(key) !== null;
}
