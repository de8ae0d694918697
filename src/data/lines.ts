import { errorMessage } from "../base/errors.ts";
import {
  type FileLine,
  fileChunks,
  LineTooLongError,
  lineBatches,
  MAX_LINE_BYTES,
} from "../base/files/door.ts";
import { isObject, type JsonObject, loads } from "../base/python/json/door.ts";
import { DatasetError } from "./errors.ts";

const CHUNK_BYTES = 256 * 1024;

/** The text of a line without its terminator. Null if the bytes are not UTF-8. */
export type Line = string | null;

export interface LineBatch {
  lines: Line[];
  /** Bytes of the file read so far. */
  bytes: number;
}

/**
 * Reads the lines of a file in batches, including blank lines, with a few hundred kilobytes in memory. As in Python's text
 * files, a line ends at `\n`, `\r\n` or a lone `\r`.
 */
export function readTextBatches(file: string, signal?: AbortSignal): AsyncGenerator<LineBatch> {
  return splitIntoLines(fileChunks(file, { chunkBytes: CHUNK_BYTES, signal }), file);
}

/** Splits a stream of bytes into lines. Errors contain `name`. */
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

/** Reads the lines of a file one by one. See `readTextBatches`. */
export async function* readTextLines(file: string, signal?: AbortSignal): AsyncGenerator<Line> {
  for await (const { lines } of readTextBatches(file, signal)) yield* lines;
}

function splitAtReturns({ text, terminated }: FileLine): Line | Line[] {
  if (!text?.includes("\r")) return text;
  return (!terminated && text.endsWith("\r") ? text.slice(0, -1) : text).split("\r");
}

function tooLong(file: string): DatasetError {
  const limit = MAX_LINE_BYTES / (1024 * 1024);
  return new DatasetError(
    "DATASET_LINE_TOO_LONG",
    `'${file}' has a line of more than ${limit} MB; each row must be one line.`,
  );
}

/** Parses a row and keeps its numbers and key order exact. Errors start with `where`, the file and line. */
export function parseExactRow(line: Line, where: string): JsonObject {
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

/** The reason why a line is not JSON, if a better one is known than the message of the parser. */
export function unreadableReason(line: string): string | undefined {
  if (line.startsWith(BYTE_ORDER_MARK))
    return "the line begins with a byte order mark (BOM); save the file as UTF-8 without one";
  return line.trim() === "" ? "the line is blank" : undefined;
}

function notJson(where: string, reason: string, cause?: unknown): DatasetError {
  return new DatasetError("DATASET_ROW_NOT_JSON", `${where}: ${reason}.`, { cause });
}
