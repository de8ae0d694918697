import { compilePyRegex, JsonTextError, loads, RegexBudgetError } from "nemo-gym/python";

/** A bracketed text with at least one `{…}` in it. Nested brackets may occur only inside braces. */
const listOfObjects = compilePyRegex(
  String.raw`\[(?:[^\[\]]|\{[^}]*\})*\{(?:[^\[\]]|\{[^}]*\})*\}(?:[^\[\]]|\{[^}]*\})*\]`,
  { dotAll: true },
);

/** A longer reply counts as a reply without a calendar, because the search would take seconds. */
const maxLength = 500_000;

/** The first JSON list of objects in a text; undefined if there is no such list or it is not valid JSON. */
export function findJsonList(text: string): unknown[] | undefined {
  if (text.length > maxLength || !text.includes("}")) return undefined;
  try {
    const found = listOfObjects.search(text)?.group();
    if (found === undefined || found === null) return undefined;
    const value = loads(found, { allowNonFinite: true });
    return Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonTextError || error instanceof RegexBudgetError) return undefined;
    throw error;
  }
}
