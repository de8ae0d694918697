import { readdir, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

export const RUN_PREFIX = "nemo-gym-run-";
export const RUN_SOCKET = "run.sock";
/** Directories looked at in one sweep; the next one sees to the others. */
const MOST_LOOKED_AT = 200;
/** One that is younger may be about to be used. */
const YOUNGEST_MS = 60_000;

/**
 * Removes what runs have left that were killed: directories whose socket nobody answers. Their process ids would not tell, because
 * programs in containers may share the directory without seeing each other. Nobody waits for it, and what cannot be removed stays.
 */
export async function sweepRuns(directory: string, now: number = Date.now()): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const runs = names.filter((name) => name.startsWith(RUN_PREFIX)).slice(0, MOST_LOOKED_AT);
  for (const run of runs) {
    const place = join(directory, run);
    const made = await stat(place).catch(() => undefined);
    if (!made?.isDirectory() || now - made.mtimeMs < YOUNGEST_MS) continue;
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
