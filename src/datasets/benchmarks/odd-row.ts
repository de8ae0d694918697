import { loads } from "../../python/json/json-loads.ts";
import { isObject } from "../../python/json/json-object.ts";
import { readLineBatches } from "../lines.ts";

/** Rows looked at; what is wrong with a script shows early. */
const MAX_ROWS = 1_000;

/** The first row nobody could ask a model with: no JSON object, or one without fields. A file without rows counts too. */
export async function oddRow(file: string, signal: AbortSignal): Promise<string | undefined> {
  let number = 0;
  for await (const { lines } of readLineBatches(file, { signal })) {
    for (const line of lines) {
      if (line?.trim() === "") continue;
      number++;
      const problem = problemOf(line);
      if (problem !== undefined) return `${file}, row ${number} ${problem}.`;
      if (number >= MAX_ROWS) return undefined;
    }
  }
  return number === 0 ? `${file} has no rows.` : undefined;
}

function problemOf(line: string | null): string | undefined {
  if (line === null) return "is not UTF-8 text";
  let row: unknown;
  try {
    row = loads(line, { allowNonFinite: true });
  } catch {
    return "is not JSON";
  }
  if (!isObject(row)) return "is not a JSON object";
  return Object.keys(row).length === 0 ? "has no fields" : undefined;
}
