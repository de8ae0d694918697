import { type FileLine, fileChunks, LineTooLongError, lineBatches, MAX_LINE_BYTES } from "../files/lines.ts";
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
