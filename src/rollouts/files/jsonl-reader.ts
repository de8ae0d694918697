import { isAscii, isUtf8 } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";
import { fileError, RolloutLineError } from "../errors.ts";

const CHUNK_BYTES = 512 * 1024;
/** A longer line is taken for a file that is no JSONL. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** One line of a file. */
export interface JsonlLine {
  /** The text without its terminator. */
  text: string;
  /** Counted from 1. */
  number: number;
  /** Where in the file the line begins, in bytes. */
  offset: number;
  /** Length in bytes with the terminator. */
  byteLength: number;
  /** False for a last line that lacks its newline: complete in files of other programs, torn in those of a killed run. */
  terminated: boolean;
}

export interface JsonlReadOptions {
  signal?: AbortSignal;
  /** Longest line accepted, in bytes (default 256 MB). */
  maxLineBytes?: number;
  /** Bytes read at a time (default half a megabyte): less for one who takes his time, and would hold the lines until then. */
  chunkBytes?: number;
}

/**
 * The lines of a file in batches of what is read at a time, blank ones included; memory does not grow with the file.
 * Bytes that are not UTF-8 and lines beyond the limit are errors that name file and line.
 */
export async function* readLineBatches(
  path: string,
  options: JsonlReadOptions = {},
): AsyncGenerator<JsonlLine[]> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw fileError(error, path, "read");
  });
  try {
    yield* batchesOf(file, path, options);
  } finally {
    await file.close();
  }
}

/** The lines of a file one by one; see `readLineBatches`. */
export async function* readLines(path: string, options: JsonlReadOptions = {}): AsyncGenerator<JsonlLine> {
  for await (const batch of readLineBatches(path, options)) yield* batch;
}

async function* batchesOf(
  file: FileHandle,
  path: string,
  options: JsonlReadOptions,
): AsyncGenerator<JsonlLine[]> {
  const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  let buffer = Buffer.allocUnsafe(options.chunkBytes ?? CHUNK_BYTES);
  /** Bytes at the front of the buffer that belong to a line not yet complete. */
  let kept = 0;
  let offset = 0;
  let number = 1;
  for (;;) {
    options.signal?.throwIfAborted();
    if (kept === buffer.length) {
      if (kept > maxLineBytes) throw tooLong(path, number, maxLineBytes);
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, kept);
      buffer = larger;
    }
    const { bytesRead } = await file.read(buffer, kept, buffer.length - kept).catch((error: unknown) => {
      throw fileError(error, path, "read");
    });
    const filled = kept + bytesRead;
    const end = bytesRead === 0 ? filled : buffer.subarray(kept, filled).lastIndexOf(NEWLINE) + 1 + kept;
    if (bytesRead > 0 && end === kept) {
      kept = filled;
      continue;
    }
    const lines = split(buffer.subarray(0, end), { path, number, offset, maxLineBytes });
    if (lines.length > 0) yield lines;
    if (bytesRead === 0) return;
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
    offset += end;
    number += lines.length;
  }
}

function split(
  bytes: Buffer,
  from: { path: string; number: number; offset: number; maxLineBytes: number },
): JsonlLine[] {
  // One check for all lines; which of them is bad is only asked when one is.
  const ascii = isAscii(bytes);
  const valid = ascii || isUtf8(bytes);
  // The same text for ASCII, made in half the time.
  const encoding = ascii ? "latin1" : "utf8";
  const lines: JsonlLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const next = found === -1 ? bytes.length : found + 1;
    const number = from.number + lines.length;
    if (next - start > from.maxLineBytes) throw tooLong(from.path, number, from.maxLineBytes);
    let end = found === -1 ? bytes.length : found;
    if (found > start && bytes[found - 1] === RETURN) end--;
    if (!valid && !isUtf8(bytes.subarray(start, end))) {
      throw new RolloutLineError("ROLLOUT_LINE_NOT_UTF8", from.path, number, notText(bytes, from.offset));
    }
    lines.push({
      text: bytes.toString(encoding, start, end),
      number,
      offset: from.offset + start,
      byteLength: next - start,
      terminated: found !== -1,
    });
    start = next;
  }
  return lines;
}

/** What the bytes are instead of text, judged by their beginning. */
function notText(bytes: Buffer, offset: number): string {
  const begins = (...start: number[]) => offset === 0 && start.every((byte, index) => bytes[index] === byte);
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
