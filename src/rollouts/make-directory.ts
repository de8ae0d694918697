import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileError } from "./errors.ts";

/**
 * Creates a directory and those above it. One after the other: Node's own recursive form never ends where a file system
 * refuses new names (as /proc does).
 */
export async function makeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) await makeDirectory(parent);
  try {
    await mkdir(path);
  } catch (error) {
    // Somebody else may have made it in the meantime.
    if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
    throw fileError(error, path, "write");
  }
}
