import { isObject } from "../../python/json/json-object.ts";

const TEXT_KEYS = ["text", "thinking", "content", "summary"] as const;
const DEEPEST = 4;

/**
 * The text of what an engine reports as reasoning: text itself, a part that holds text, or a list of such. Undefined where there is
 * none to be found.
 */
export function reasoningText(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value;
  if (depth === DEEPEST) return undefined;
  if (Array.isArray(value)) {
    const texts = value.map((part) => reasoningText(part, depth + 1));
    return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
  }
  if (!isObject(value)) return undefined;
  const key = TEXT_KEYS.find((name) => value[name] != null);
  return key === undefined ? undefined : reasoningText(value[key], depth + 1);
}
