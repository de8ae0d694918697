import { errorMessage } from "../errors.ts";
import { type FileLine, fileChunks, LineTooLongError, lineBatches, MAX_LINE_BYTES } from "../files/lines.ts";
import { loads } from "../python/json/json-loads.ts";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { DatasetError } from "./errors.ts";

const CHUNK_BYTES = 256 * 1024;

/** The text of a line without its terminator; null where the bytes are not UTF-8. */
export type Line = string | null;

export interface LineBatch {
  lines: Line[];
  /** Bytes of the file read so far. */
  bytes: number;
}

/**
 * The lines of a file in batches, blank ones included, with a few hundred kilobytes in memory at a time. Lines end where
 * Python's text files end them: at `\n`, `\r\n` or a lone `\r`.
 */
export function readLineBatches(
  file: string,
  options: { signal?: AbortSignal } = {},
): AsyncGenerator<LineBatch> {
  return splitIntoLines(fileChunks(file, { chunkBytes: CHUNK_BYTES, signal: options.signal }), file);
}

/** The lines of a stream of bytes; `name` is what errors call it. */
export async function* splitIntoLines(
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<LineBatch> {
  try {
    for await (const batch of lineBatches(chunks)) {
      const last = batch.at(-1);
      yield { lines: batch.flatMap(splitAtReturns), bytes: last ? last.offset + last.byteLength : 0 };
    }
  } catch (error) {
    throw error instanceof LineTooLongError ? tooLong(name) : error;
  }
}

/** The lines of a file one by one; see `readLineBatches`. */
export async function* readLines(file: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<Line> {
  for await (const { lines } of readLineBatches(file, options)) yield* lines;
}

function splitAtReturns({ text, terminated }: FileLine): Line | Line[] {
  if (!text?.includes("\r")) return text;
  return (!terminated && text.endsWith("\r") ? text.slice(0, -1) : text).split("\r");
}

function tooLong(file: string): DatasetError {
  const limit = MAX_LINE_BYTES / (1024 * 1024);
  return new DatasetError(
    "DATASET_LINE_TOO_LONG",
    `'${file}' has a line of more than ${limit} MB; rows are one per line.`,
  );
}

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
