import type { FileHandle } from "node:fs/promises";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The repair of a last line without newline. */
export interface TailRepair {
  /** `completed`: only the newline was missing and was added. `removed`: the line was incomplete and was removed. */
  kind: "completed" | "removed";
  /** Length of the line in bytes. */
  bytes: number;
}

/**
 * Makes a file end with a newline (or be empty), so that lines can be appended. A process killed during a write leaves
 * part of a line. A prefix of a JSON object is never valid JSON, so a last line that parses is complete and is kept.
 */
export async function repairTail(file: FileHandle): Promise<TailRepair | undefined> {
  const { size } = await file.stat();
  const start = await lastLineStart(file, size);
  if (start === size) return undefined;
  const tail = Buffer.alloc(size - start);
  await readFully(file, tail, start);
  if (isJsonObject(tail.toString("utf8"))) {
    await file.appendFile("\n");
    return { kind: "completed", bytes: tail.length };
  }
  await file.truncate(start);
  return { kind: "removed", bytes: tail.length };
}

/** The offset after the last newline. */
async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(Math.min(BLOCK_BYTES, size));
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const part = block.subarray(0, end - start);
    await readFully(file, part, start);
    const found = part.lastIndexOf(NEWLINE);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}

async function readFully(file: FileHandle, target: Buffer, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    done += bytesRead;
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
