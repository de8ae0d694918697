import { errorMessage } from "../errors.ts";
import { loads } from "../python/json/json-loads.ts";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { DatasetError } from "./errors.ts";
import type { Line } from "./lines.ts";

/** The row of a line, its numbers and key order kept; `where` (file and line) begins the message of a failure. */
export function readRow(line: Line, where: string): JsonObject {
  if (line === null) throw notJson(where, "the line is not UTF-8 text");
  let row: unknown;
  try {
    row = loads(line, { allowNonFinite: true });
  } catch (error) {
    throw notJson(where, unreadableReason(line) ?? errorMessage(error), error);
  }
  if (!isObject(row)) throw notJson(where, "the row is not a JSON object");
  return row;
}

const BYTE_ORDER_MARK = "\ufeff";

/** Why a line is not JSON, where a better reason is known than the position at which the reader stopped. */
export function unreadableReason(line: string): string | undefined {
  if (line.startsWith(BYTE_ORDER_MARK))
    return "the line begins with a byte order mark (BOM); save the file as UTF-8 without one";
  return line.trim() === "" ? "the line is blank" : undefined;
}

function notJson(where: string, reason: string, cause?: unknown): DatasetError {
  return new DatasetError("DATASET_ROW_NOT_JSON", `${where}: ${reason}.`, { cause });
}
