import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 512 * 1024;
/** A longer line is listed as unreadable and skipped, so that no file can fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A line as it lies in the file. */
export interface ScannedLine {
  /** Where the line begins, in bytes. */
  offset: number;
  /** Bytes without the terminator. */
  length: number;
  /** Where the next line begins. */
  end: number;
  /** Absent when the line is no text or too long to be read; `problem` says which. */
  text: string | undefined;
  problem: string | undefined;
  /** False for a last line without its newline. */
  terminated: boolean;
}

/**
 * The lines from `offset` to the end of the file, in batches of about half a megabyte. Unlike the reader of a run nothing here is
 * fatal: what cannot be read is a line with a problem.
 */
export async function* scanLines(
  file: FileHandle,
  offset: number,
  options: { signal?: AbortSignal; maxLineBytes?: number } = {},
): AsyncGenerator<ScannedLine[]> {
  const limit = options.maxLineBytes ?? MAX_LINE_BYTES;
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let kept = 0;
  let start = offset;
  /** Bytes already dropped of a line beyond the limit. */
  let dropped = 0;
  for (;;) {
    options.signal?.throwIfAborted();
    if (kept === buffer.length) {
      if (dropped > 0 || kept > limit) {
        dropped += kept;
        kept = 0;
      } else {
        const larger = Buffer.allocUnsafe(buffer.length * 2);
        buffer.copy(larger, 0, 0, kept);
        buffer = larger;
      }
    }
    const position = start + dropped + kept;
    const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, position);
    const filled = kept + bytesRead;
    const lines: ScannedLine[] = [];
    let from = 0;
    for (;;) {
      const found = buffer.subarray(0, filled).indexOf(NEWLINE, from === 0 ? kept : from);
      if (found === -1 && (bytesRead > 0 || (from === filled && dropped === 0))) break;
      const end = found === -1 ? filled : found;
      const line = lineOf(buffer.subarray(from, end), { offset: start, dropped, limit, found: found !== -1 });
      lines.push(line);
      start = line.end;
      dropped = 0;
      from = found === -1 ? filled : found + 1;
      if (found === -1) break;
    }
    if (lines.length > 0) yield lines;
    if (bytesRead === 0) return;
    buffer.copyWithin(0, from, filled);
    kept = filled - from;
  }
}

function lineOf(
  bytes: Buffer,
  place: { offset: number; dropped: number; limit: number; found: boolean },
): ScannedLine {
  const { offset, dropped, limit, found: terminated } = place;
  const length = dropped + bytes.length - (terminated && bytes.at(-1) === RETURN ? 1 : 0);
  const line = { offset, length, end: offset + dropped + bytes.length + (terminated ? 1 : 0), terminated };
  if (length > limit) {
    const problem = `the line is longer than ${Math.max(1, Math.round(limit / 1e6))} MB; a JSONL file has one row per line`;
    return { ...line, text: undefined, problem };
  }
  const content = bytes.subarray(0, length);
  if (!isUtf8(content)) return { ...line, text: undefined, problem: "the line is not valid UTF-8" };
  return { ...line, text: content.toString("utf8"), problem: undefined };
}
