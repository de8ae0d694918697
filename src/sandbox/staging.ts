import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ownerState } from "./owner.ts";
import type { ListedSandbox } from "./provider.ts";

const SUFFIX = ".files";

/** Makes the directory of this machine that a sandbox may write to; nobody else may look into it. */
export async function makeStaging(name: string): Promise<string> {
  const directory = stagingOf(name);
  // Fails where something of that name is there already, a link included.
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

/** Directories of sandboxes whose process is gone. */
export async function leftStaging(): Promise<ListedSandbox[]> {
  const names = await readdir(tmpdir());
  return names.flatMap((name) => {
    const id = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : "";
    return ownerState(id) === "left behind"
      ? [{ id, state: "left behind" as const, detail: stagingOf(id) }]
      : [];
  });
}

export async function removeStaging(name: string): Promise<void> {
  await rm(stagingOf(name), { recursive: true, force: true });
}

function stagingOf(name: string): string {
  return path.join(tmpdir(), `${name}${SUFFIX}`);
}
