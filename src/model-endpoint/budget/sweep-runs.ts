import { readdir, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { isPrivateDirectory } from "../../files/private-directory.ts";

export const RUN_PREFIX = "run-";
export const RUN_SOCKET = "run.sock";
/** Upper bound of directories checked in one sweep. The next run continues. */
const MAX_CHECKED = 200;
/** A younger directory may belong to a run that has not opened its socket yet. */
const MIN_AGE_MS = 60_000;

/**
 * Removes the directories of runs that were killed: directories of this user whose socket nobody answers. Process ids cannot
 * decide this, because containers may share the directory without seeing each other's processes. The caller does not wait
 * for the sweep, and what cannot be removed stays.
 */
export async function sweepRuns(directory: string, now: number = Date.now()): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const runs = names.filter((name) => name.startsWith(RUN_PREFIX)).slice(0, MAX_CHECKED);
  for (const run of runs) {
    const place = join(directory, run);
    if (!isPrivateDirectory(place)) continue;
    const found = await stat(place).catch(() => undefined);
    if (!found || now - found.mtimeMs < MIN_AGE_MS) continue;
    if (await isAbandoned(join(place, RUN_SOCKET)))
      await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}

function isAbandoned(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.unref();
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code === "ECONNREFUSED" || code === "ENOENT"),
    );
  });
}
