import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a directory and its parents. Does not use the recursive mode of Node, which never ends on file systems that reject
 * new names, such as /proc.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  if (await isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeDirectory(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!(await isDirectory(path))) throw error;
  }
}

/** Synchronous version of `makeDirectory`. */
export function makeDirectorySync(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectorySync(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isThere()) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
