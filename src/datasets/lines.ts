import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { DatasetError } from "./errors.ts";

const CHUNK_BYTES = 256 * 1024;
/** A longer line than this is not a row. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The text of a line without its terminator; null where the bytes are not UTF-8. */
export type Line = string | null;

export interface LineBatch {
  lines: Line[];
  /** Bytes of the file read so far. */
  bytes: number;
}

/**
 * The lines of a file in batches, blank ones included, with a few hundred kilobytes in memory at a time. Lines end as
 * Python's text files have it: at `\n`, `\r\n` or a lone `\r`.
 */
export function readLineBatches(
  file: string,
  options: { signal?: AbortSignal } = {},
): AsyncGenerator<LineBatch> {
  return splitIntoLines(createReadStream(file, { highWaterMark: CHUNK_BYTES, signal: options.signal }), file);
}

/** The lines of a stream of bytes; `name` is what errors call it. */
export async function* splitIntoLines(
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<LineBatch> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      rest.push(chunk);
      restBytes += chunk.length;
      if (restBytes > MAX_LINE_BYTES) throw tooLong(name);
      continue;
    }
    const whole = chunk.subarray(0, end);
    yield { lines: split(rest.length === 0 ? whole : Buffer.concat([...rest, whole])), bytes };
    rest = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    restBytes = chunk.length - end - 1;
  }
  if (rest.length > 0) yield { lines: split(Buffer.concat(rest)), bytes };
}

/** The lines of a file one by one; see `readLineBatches`. */
export async function* readLines(file: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<Line> {
  for await (const { lines } of readLineBatches(file, options)) yield* lines;
}

function split(bytes: Buffer): Line[] {
  if (!isUtf8(bytes)) return splitDamaged(bytes);
  const text = bytes.toString("utf8");
  if (!text.includes("\r")) return text.split("\n");
  return (text.endsWith("\r") ? text.slice(0, -1) : text).split(/\r\n|\r|\n/);
}

/** Line by line, so that one bad byte costs only its own line. */
function splitDamaged(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (isUtf8(line)) lines.push(...split(line));
    else lines.push(null);
    start = end + 1;
  }
  return lines;
}

function tooLong(file: string): DatasetError {
  const limit = MAX_LINE_BYTES / (1024 * 1024);
  return new DatasetError(
    "DATASET_LINE_TOO_LONG",
    `'${file}' has a line of more than ${limit} MB; rows are one per line.`,
  );
}
