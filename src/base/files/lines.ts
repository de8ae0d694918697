import { isAscii, isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** Maximum length of a line. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024;

/** One line of a file. */
export interface FileLine {
  /** The text without its terminator (`\n` or `\r\n`); null if the bytes are not UTF-8. */
  text: string | null;
  /** Counted from 1. */
  number: number;
  /** Start of the line in bytes. */
  offset: number;
  /** Length in bytes with the terminator. */
  byteLength: number;
  /** False for a last line without newline. */
  terminated: boolean;
}

/** Thrown by `lineBatches` for a line that is longer than the limit. */
export class LineTooLongError extends Error {
  readonly number: number;

  constructor(number: number) {
    super(`line ${number} is too long`);
    this.number = number;
  }
}

/** The bytes of a file for `lineBatches`. All chunks share one buffer, so a chunk is valid until the next one is requested. */
export async function* fileChunks(
  path: string,
  options: { chunkBytes: number; signal?: AbortSignal },
): AsyncGenerator<Buffer> {
  options.signal?.throwIfAborted();
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(options.chunkBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      options.signal?.throwIfAborted();
    }
  } finally {
    await file.close();
  }
}

/**
 * Splits a stream of bytes into lines, including blank ones. Yields one batch per chunk that contains a newline. Memory grows
 * with the longest line, not with the stream.
 */
export async function* lineBatches(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<FileLine[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let offset = 0;
  let number = 1;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const whole = chunk.subarray(0, end);
      const bytes = rest.length === 0 ? whole : Buffer.concat([...rest, whole]);
      const lines = split(bytes, { number, offset, maxLineBytes });
      yield lines;
      offset += bytes.length;
      number += lines.length;
      rest = [];
      restBytes = 0;
    }
    if (end < chunk.length) {
      rest.push(Buffer.from(chunk.subarray(end)));
      restBytes += chunk.length - end;
      if (restBytes > maxLineBytes) throw new LineTooLongError(number);
    }
  }
  if (rest.length > 0) yield split(Buffer.concat(rest), { number, offset, maxLineBytes });
}

function split(bytes: Buffer, from: { number: number; offset: number; maxLineBytes: number }): FileLine[] {
  // One check covers all lines. Each line is only checked if it fails.
  const ascii = isAscii(bytes);
  const valid = ascii || isUtf8(bytes);
  // Decoding ASCII as latin1 gives the same text in half the time.
  const encoding = ascii ? "latin1" : "utf8";
  const lines: FileLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const next = found === -1 ? bytes.length : found + 1;
    const number = from.number + lines.length;
    if (next - start > from.maxLineBytes) throw new LineTooLongError(number);
    let end = found === -1 ? bytes.length : found;
    if (found > start && bytes[found - 1] === RETURN) end--;
    const readable = valid || isUtf8(bytes.subarray(start, end));
    lines.push({
      text: readable ? bytes.toString(encoding, start, end) : null,
      number,
      offset: from.offset + start,
      byteLength: next - start,
      terminated: found !== -1,
    });
    start = next;
  }
  return lines;
}
