import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Runs a case in an empty directory, which is removed afterwards. */
export async function inDirectory<T>(run: (directory: string) => Promise<T>): Promise<T> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), "gym-conformance-")));
  try {
    return await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes the files of a case, given by their paths in the directory. */
export async function writeFiles(directory: string, files: Record<string, string>): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
