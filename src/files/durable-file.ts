import { randomBytes } from "node:crypto";
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

/**
 * The new content of a file. It is written to `partial`, beside the file, and takes its name in one step. The name is random:
 * processes of other machines may write to the same directory.
 */
export class Replacement {
  readonly path: string;
  readonly partial: string;

  constructor(path: string) {
    this.path = path;
    this.partial = `${path}.${randomBytes(6).toString("hex")}.partial`;
  }

  commit(): Promise<void> {
    return rename(this.partial, this.path);
  }

  discard(): Promise<void> {
    return rm(this.partial, { force: true });
  }
}

/**
 * Replaces a file in one step: `write` fills a file beside it, which then takes its name. Readers see the old content or the
 * new one. After a failure the old file stays, and nothing else.
 */
export async function replaceWith<T>(path: string, write: (partial: string) => Promise<T>): Promise<T> {
  const replacement = new Replacement(path);
  try {
    const result = await write(replacement.partial);
    await replacement.commit();
    return result;
  } catch (error) {
    await replacement.discard().catch(() => undefined);
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
