import { open } from "node:fs/promises";

/** The text of a file, or undefined when it does not exist or is larger than `limit` bytes. */
export async function readSmallFile(path: string, limit: number): Promise<string | undefined> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > limit ? undefined : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
