import type { RunFileHandle } from "../../records/door.ts";

/** Blocks below a megabyte would be copied into the heap as strings, which takes twice as long as searching them. */
const BLOCK_BYTES = 2 * 1024 * 1024;
/** A longer line is listed as unreadable, which bounds the buffer. It would not fit into a string. */
export const MAX_INDEXED_BYTES = 512 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Position of a line in the bytes of its block. */
export interface BlockLine {
  from: number;
  to: number;
  /** Offset in the file, and offset of the next line. */
  offset: number;
  end: number;
  /** Bytes without the terminator; more than `to - from` for a line beyond the limit. */
  length: number;
  /** False for a last line without its newline. */
  terminated: boolean;
}

/** Whole lines of a file. The bytes are only valid until the next block is requested. */
export interface Block {
  bytes: Buffer;
  lines: BlockLine[];
}

/** The lines from `offset` to the end of the file, a few megabytes at a time. */
export async function* readBlocks(
  file: RunFileHandle,
  offset: number,
  signal?: AbortSignal,
  maxLineBytes: number = MAX_INDEXED_BYTES,
): AsyncGenerator<Block> {
  let buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let kept = 0;
  let start = offset;
  /** Dropped bytes of a line beyond the limit. */
  let dropped = 0;
  for (;;) {
    signal?.throwIfAborted();
    if (kept === buffer.length) {
      if (dropped > 0 || kept > maxLineBytes) {
        dropped += kept;
        kept = 0;
      } else {
        // One byte more than the limit shows that the line is too long.
        const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxLineBytes + 1));
        buffer.copy(larger, 0, 0, kept);
        buffer = larger;
      }
    }
    const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, start + dropped + kept);
    const filled = kept + bytesRead;
    const bytes = buffer.subarray(0, filled);
    const lines: BlockLine[] = [];
    let from = 0;
    for (;;) {
      const found = bytes.indexOf(NEWLINE, from === 0 ? kept : from);
      if (found === -1 && (bytesRead > 0 || (from === filled && dropped === 0))) break;
      const terminated = found !== -1;
      const to = terminated ? found : filled;
      const withoutReturn = terminated && to > from && bytes[to - 1] === RETURN ? to - 1 : to;
      const end = start + dropped + (to - from) + (terminated ? 1 : 0);
      lines.push({
        from,
        to: withoutReturn,
        offset: start,
        end,
        length: dropped + withoutReturn - from,
        terminated,
      });
      start = end;
      dropped = 0;
      from = terminated ? found + 1 : filled;
      if (!terminated) break;
    }
    if (lines.length > 0) yield { bytes, lines };
    if (bytesRead === 0) return;
    kept = filled - from;
    if (buffer.length > BLOCK_BYTES && kept < BLOCK_BYTES) {
      // The memory for a long row is not kept for the short rows after it.
      const smaller = Buffer.allocUnsafe(BLOCK_BYTES);
      buffer.copy(smaller, 0, from, filled);
      buffer = smaller;
    } else buffer.copyWithin(0, from, filled);
  }
}
