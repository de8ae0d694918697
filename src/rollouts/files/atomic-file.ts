import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileError, notRegularError } from "../errors.ts";
import { makeDirectory } from "./make-directory.ts";

const CHUNK_CHARACTERS = 1024 * 1024;

/**
 * Writes a whole file or nothing: the text goes to `<path>.partial`, is synced, and takes the name when complete. Someone who reads
 * `path` sees the old file or the new one, also after a crash.
 */
export async function writeFileAtomically(
  path: string,
  parts: Iterable<string> | AsyncIterable<string>,
  options: {
    onBytes?: (bytes: Buffer) => void;
    /** Called once everything is written; if it throws, the old file stays. */
    beforeReplacing?: () => Promise<void>;
  } = {},
): Promise<void> {
  const partial = `${path}.partial`;
  let file: FileHandle | undefined;
  const write = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text, "utf8");
    options.onBytes?.(bytes);
    await file?.writeFile(bytes).catch((error: unknown) => {
      throw fileError(error, path, "write");
    });
  };
  try {
    file = await openNew(partial, path);
    for await (const chunk of chunked(parts)) await write(chunk);
    await options.beforeReplacing?.();
    await finish(file, partial, path);
  } catch (error) {
    await file?.close().catch(() => undefined);
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Joins small parts, so that neither writes nor waits happen for each of them. */
async function* chunked(parts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let pending = "";
  if (Symbol.iterator in parts) {
    for (const part of parts) {
      pending += part;
      if (pending.length < CHUNK_CHARACTERS) continue;
      yield pending;
      pending = "";
    }
  } else {
    for await (const part of parts) {
      pending += part;
      if (pending.length < CHUNK_CHARACTERS) continue;
      yield pending;
      pending = "";
    }
  }
  yield pending;
}

async function openNew(partial: string, path: string): Promise<FileHandle> {
  try {
    const found = await stat(path).catch(() => undefined);
    // A rename would put a file in the place of a device, for everybody.
    if (found && !found.isFile() && !found.isDirectory()) throw notRegularError(path);
    await makeDirectory(dirname(path));
    return await open(partial, "w");
  } catch (error) {
    throw fileError(error, path, "write");
  }
}

async function finish(file: FileHandle, partial: string, path: string): Promise<void> {
  try {
    await file.sync();
    await file.close();
    await rename(partial, path);
    const directory = await open(dirname(path), "r");
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    throw fileError(error, path, "write");
  }
}
