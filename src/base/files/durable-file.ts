import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";

const NEWLINE = 0x0a;

/**
 * Appends one line to a file and resolves when it is on the device. Several processes may append at the same time: the line is
 * one write to a file opened for appending. An incomplete line of a killed writer is terminated first.
 */
export async function appendDurably(path: string, line: string): Promise<void> {
  const file = await open(path, "a+");
  try {
    const text = (await endsMidLine(file)) ? `\n${line}\n` : `${line}\n`;
    const bytes = Buffer.from(text, "utf8");
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length)
      throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function endsMidLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

/**
 * Replaces a file atomically: `write` writes a partial file in the same directory, which is then renamed. Readers see the old
 * content or the new content. After a failure the old file is unchanged and the partial file is removed. The name of the
 * partial file is random, because processes of other machines may write to the same directory.
 */
export async function replaceWith<T>(path: string, write: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${randomBytes(6).toString("hex")}.partial`;
  try {
    const result = await write(partial);
    await rename(partial, path);
    return result;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Replaces the content of a file atomically. With `durable`, it waits until the text is on the device. */
export function replaceFile(path: string, text: string, options: { durable?: boolean } = {}): Promise<void> {
  return replaceWith(path, async (partial) => {
    const file = await open(partial, "w");
    try {
      await file.writeFile(text);
      if (options.durable) await file.datasync();
    } finally {
      await file.close();
    }
  });
}
