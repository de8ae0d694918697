import { isObject, JsonTextError, loadsPlain, SPACE_CLASS, strip } from "nemo-gym/python";

const listStart = new RegExp(`Final Answer:[${SPACE_CLASS}]*\\[`);

/** The items of `Final Answer: [a, b]` in the last line that is not blank; undefined if that line has no such list. */
export function finalAnswerItems(text: string): string[] | undefined {
  const line = text.split("\n").findLast((candidate) => strip(candidate) !== "") ?? "";
  const match = listStart.exec(line);
  const start = match ? match.index + match[0].length : line.length;
  const end = line.lastIndexOf("]");
  if (end < start) return undefined;
  const items = line.slice(start, end).split(",");
  return items.map((item) => strip(item)).filter((item) => item !== "");
}

/**
 * Python's `set(json.loads(text))`: the items of a list, the keys of an object, the characters of a text. Empty if the text is
 * not JSON or has no set.
 */
export function expectedItems(text: string): Set<unknown> {
  let value: unknown;
  try {
    value = loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonTextError) return new Set();
    throw error;
  }
  if (typeof value === "string") return new Set(value);
  if (isObject(value)) return new Set(Object.keys(value));
  if (!Array.isArray(value)) return new Set();
  const items: unknown[] = value;
  if (items.some((item) => typeof item === "object" && item !== null)) return new Set();
  return new Set(items.map((item) => (typeof item === "boolean" ? Number(item) : item)));
}

/** F1 of two sets: 1 if both are empty, 0 if only one is. */
export function setF1(found: ReadonlySet<unknown>, expected: ReadonlySet<unknown>): number {
  if (found.size === 0 && expected.size === 0) return 1;
  const shared = [...found].filter((item) => expected.has(item)).length;
  if (shared === 0) return 0;
  const precision = shared / found.size;
  const recall = shared / expected.size;
  return (2 * precision * recall) / (precision + recall);
}
