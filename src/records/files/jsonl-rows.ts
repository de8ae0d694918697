import { errorMessage } from "../../base/errors.ts";
import { type FileLine, LineTooLongError, lineBatches, MAX_LINE_BYTES } from "../../base/files/door.ts";
import { isObject, loads, loadsPlain } from "../../base/python/json/door.ts";
import { fileError, invalidRow, RolloutLineError } from "../errors.ts";
import { openRunFile, runFileChunks } from "../packed/run-file.ts";
import { imagesOf, restoreImages } from "./row-images.ts";

const CHUNK_BYTES = 512 * 1024;
/** Number of leading bytes that identify a file type. */
const HEAD_BYTES = 4;
const BYTE_ORDER_MARK = "\uFEFF";

/** One line of a file. */
export interface JsonlLine extends FileLine {
  text: string;
}

export interface JsonlReadOptions {
  signal?: AbortSignal;
  /** Maximum length of a line, in bytes (default 256 MB). */
  maxLineBytes?: number;
  /** Bytes read at a time (default half a megabyte). Use less for a slow consumer, because the lines stay in memory. */
  chunkBytes?: number;
  /** Leaves references to stored images in the lines (default: false). */
  keepReferences?: boolean;
}

/**
 * The lines of a file in batches of one read each, including blank lines; memory does not grow with the file. Invalid
 * UTF-8 and lines beyond the limit are errors that name file and line.
 */
export async function* readLineBatches(
  path: string,
  options: JsonlReadOptions = {},
): AsyncGenerator<JsonlLine[]> {
  const { signal, maxLineBytes = MAX_LINE_BYTES, chunkBytes = CHUNK_BYTES } = options;
  try {
    for await (const lines of lineBatches(runFileChunks(path, { chunkBytes, signal }), maxLineBytes)) {
      const bad = lines.find(({ text }) => text === null);
      if (bad) throw new RolloutLineError("ROLLOUT_LINE_NOT_UTF8", path, bad.number, await notText(path));
      if (options.keepReferences) yield lines as JsonlLine[];
      else yield* withImages(path, lines as JsonlLine[], chunkBytes);
    }
  } catch (error) {
    if (error instanceof LineTooLongError) throw tooLong(path, error.number, maxLineBytes);
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : fileError(error, path, "read");
  }
}

/** The lines with their images, in smaller batches if these are large. */
function* withImages(path: string, lines: JsonlLine[], batchCharacters: number): Generator<JsonlLine[]> {
  if (lines.every(({ text }) => imagesOf(text).length === 0)) return yield lines;
  let batch: JsonlLine[] = [];
  let size = 0;
  for (const line of lines) {
    const text = restoreImages(path, line.text);
    batch.push({ ...line, text });
    size += text.length;
    if (size < batchCharacters) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The lines of a file one by one; see `readLineBatches`. */
export async function* readLines(path: string, options: JsonlReadOptions = {}): AsyncGenerator<JsonlLine> {
  for await (const batch of readLineBatches(path, options)) yield* batch;
}

/** The type of a file that is not text, detected from its first bytes. */
async function notText(path: string): Promise<string> {
  const bytes = Buffer.alloc(HEAD_BYTES);
  const file = await openRunFile(path);
  await file.read(bytes, 0, HEAD_BYTES, 0).finally(() => file.close());
  const begins = (...start: number[]) => start.every((byte, index) => bytes[index] === byte);
  if (begins(0x1f, 0x8b)) return "the file is compressed with gzip; unpack it first (gunzip).";
  if (begins(0x28, 0xb5, 0x2f, 0xfd)) return "the file is compressed with zstd; unpack it first (unzstd).";
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) return "the file is UTF-16; convert it to UTF-8.";
  return "the line is not valid UTF-8.";
}

function tooLong(path: string, number: number, limit: number): RolloutLineError {
  const megabytes = Math.max(1, Math.round(limit / 1e6));
  return new RolloutLineError(
    "ROLLOUT_LINE_TOO_LONG",
    path,
    number,
    `the line is longer than ${megabytes} MB; a JSONL file has one row per line.`,
  );
}

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
  if (!isObject(value)) throw invalidRow(path, line, "the row is not a JSON object.");
  return value;
}

function problemOf(text: string, error: unknown): string {
  if (text.startsWith(BYTE_ORDER_MARK))
    return "the line begins with a byte order mark (BOM), which is not JSON; save the file as UTF-8 without BOM";
  return text.trim() === "" ? "the line is blank" : `the line is not JSON: ${errorMessage(error)}`;
}

export interface ReadRowsOptions extends JsonlReadOptions {
  /** Skips blank lines instead of rejecting them (default false). */
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
