import { type FileHandle, open, rename, rm } from "node:fs/promises";

const NEWLINE = 0x0a;

/**
 * Adds one line to a file and returns when it is on the device. Several processes may do so at once: the line goes out in one
 * write to a file opened for appending. What a killed writer left half is closed off first, so that it spoils nothing else.
 */
export async function appendDurably(path: string, line: string): Promise<void> {
  const file = await open(path, "a+");
  try {
    const text = (await endsMidLine(file)) ? `\n${line}\n` : `${line}\n`;
    const bytes = Buffer.from(text, "utf8");
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes fitted`);
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

let serial = 0;

/**
 * Replaces a file in one step: `write` fills a file beside it, which then takes its name. Readers see the old content or the
 * new one. After a failure the old file stays, and nothing else.
 */
export async function replaceWith<T>(path: string, write: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${path}.${process.pid}-${serial++}.partial`;
  try {
    const result = await write(partial);
    await rename(partial, path);
    return result;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Replaces a file by a text in one step; `durable` waits until the text is on the device. */
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
