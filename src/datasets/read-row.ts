import { errorMessage } from "../errors.ts";
import { isObject, type JsonObject } from "../openai/readers.ts";
import { loads } from "../python/json-loads.ts";
import { DatasetError } from "./errors.ts";
import type { Line } from "./lines.ts";

/** The row of a line, its numbers and key order kept; `where` (file and line) begins the message of a failure. */
export function readRow(line: Line, where: string): JsonObject {
  if (line === null) throw notJson(where, "the line is not UTF-8 text");
  let row: unknown;
  try {
    row = loads(line, { allowNonFinite: true });
  } catch (error) {
    throw notJson(where, line.trim() === "" ? "the line is blank" : errorMessage(error), error);
  }
  if (!isObject(row)) throw notJson(where, "the row is not a JSON object");
  return row;
}

function notJson(where: string, reason: string, cause?: unknown): DatasetError {
  return new DatasetError("DATASET_ROW_NOT_JSON", `${where}: ${reason}.`, { cause });
}
