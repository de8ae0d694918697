import { errorMessage } from "../../errors.ts";
import { loads, loadsPlain } from "../../python/json/json-loads.ts";
import { RolloutLineError } from "../errors.ts";
import { type JsonlLine, type JsonlReadOptions, readLineBatches } from "./jsonl-reader.ts";

const BYTE_ORDER_MARK = "\uFEFF";

export type Row = Record<string, unknown>;

/** A row and its line. */
export interface RowLine {
  row: Row;
  line: JsonlLine;
}

/** Parses one line as a JSON object; the error names file, line and actual type. */
export function parseRow(path: string, line: JsonlLine, options: { exact?: boolean } = {}): Row {
  let value: unknown;
  try {
    value = options.exact ? loads(line.text) : loadsPlain(line.text);
  } catch (error) {
    const problem = `${problemOf(line.text, error)}.`;
    throw new RolloutLineError("ROLLOUT_ROW_NOT_JSON", path, line.number, problem, { cause: error });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new RolloutLineError("ROLLOUT_ROW_INVALID", path, line.number, "the row is not a JSON object.");
  }
  return value as Row;
}

function problemOf(text: string, error: unknown): string {
  if (text.startsWith(BYTE_ORDER_MARK))
    return "the line begins with a byte order mark (BOM), which is not JSON; save the file as UTF-8 without BOM";
  return text.trim() === "" ? "the line is blank" : `the line is not JSON: ${errorMessage(error)}`;
}

export interface ReadRowsOptions extends JsonlReadOptions {
  /** Skips blank lines instead of refusing them (default false). */
  skipBlank?: boolean;
  /**
   * Called with a last line without newline that is not JSON, which is then skipped. Without a callback, such a line is
   * an error.
   */
  onTornLine?: (line: JsonlLine) => void;
  /** Reads only this many lines; 0 means all. */
  limit?: number;
  /** Distinguishes `1.0` from `1`, and preserves large integers and key order; for rows that are written again. */
  exact?: boolean;
}

/** The rows of a JSONL file, with their lines. */
export async function* readRows(path: string, options: ReadRowsOptions = {}): AsyncGenerator<RowLine> {
  const limit = options.limit || Number.POSITIVE_INFINITY;
  for await (const batch of readLineBatches(path, options)) {
    for (const line of batch) {
      if (line.number > limit) return;
      if (options.skipBlank && line.text.trim() === "") continue;
      if (options.onTornLine && isTorn(line)) options.onTornLine(line);
      else yield { row: parseRow(path, line, options), line };
    }
    if ((batch.at(-1)?.number ?? 0) >= limit) return;
  }
}

/** Whether the line is an incomplete write: no newline and no complete JSON. */
function isTorn(line: JsonlLine): boolean {
  if (line.terminated) return false;
  try {
    JSON.parse(line.text);
    return false;
  } catch {
    return true;
  }
}
