import { ConfigError } from "../config/errors.ts";
import type { Explanation, ResolvedConfig } from "../config/resolve.ts";
import { hint } from "./hint.ts";

/** Where the value of a key came from; a key that nothing sets is a mistake worth a hint. */
export function explainKey(config: ResolvedConfig, key: string): Explanation {
  const explanation = config.explain(key);
  if (explanation.value === undefined && explanation.sources.length === 0) {
    throw new ConfigError(`No source sets '${key}'.${hint(key, siblingKeys(config, key))}`);
  }
  return explanation;
}

/** The keys beside the first segment that does not exist, written as full paths. */
function siblingKeys(config: ResolvedConfig, key: string): string[] {
  const segments = key.split(".");
  for (let depth = 0; depth < segments.length; depth++) {
    const parent = segments.slice(0, depth);
    const value = depth === 0 ? config.toObject() : config.get(parent.join("."));
    if (typeof value !== "object" || value === null) return [];
    if (!Object.hasOwn(value, segments[depth] ?? "")) {
      const rest = segments.slice(depth + 1);
      return Object.keys(value).map((name) => [...parent, name, ...rest].join("."));
    }
  }
  return [];
}
