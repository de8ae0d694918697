import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceWith } from "../../base/files/door.ts";
import { fileError, notRegularError } from "../errors.ts";
import { makeOutputDirectory } from "./artifact-paths.ts";

const CHUNK_CHARACTERS = 1024 * 1024;

/**
 * Writes a whole file or nothing: the text is written to a temporary file in the same directory, synced, and renamed
 * when complete. A reader of `path` sees the old file or the new one, even after a crash.
 */
export async function writeFileAtomically(
  path: string,
  parts: Iterable<string> | AsyncIterable<string>,
  options: {
    onBytes?: (bytes: Buffer) => void;
    /** Called when everything is written; if it throws, the old file stays. */
    beforeReplacing?: () => Promise<void>;
  } = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  // A rename would replace the device with a file, for all users.
  if (found && !found.isFile() && !found.isDirectory()) throw notRegularError(path);
  await makeOutputDirectory(dirname(path));
  const write = async (partial: string): Promise<void> => {
    const file = await open(partial, "w");
    try {
      for await (const chunk of chunked(parts)) {
        const bytes = Buffer.from(chunk, "utf8");
        options.onBytes?.(bytes);
        await file.writeFile(bytes);
      }
      await options.beforeReplacing?.();
      await file.sync();
    } finally {
      await file.close();
    }
  };
  try {
    await replaceWith(path, write);
    const directory = await open(dirname(path), "r");
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : fileError(error, path, "write");
  }
}

/** Joins small parts, so that they do not each cause a write and a wait. */
async function* chunked(parts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let pending = "";
  for await (const part of parts) {
    pending += part;
    if (pending.length < CHUNK_CHARACTERS) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}
