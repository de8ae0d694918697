import { mkdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { fileError } from "../../records/errors.ts";
import { makeOutputDirectory } from "../../records/files/door.ts";

/** The default output: a new directory for every run, created immediately so that no other run uses it. */
export async function newOutput(cwd: string, agent: string, now: Date): Promise<string> {
  const time = now.toISOString().replace(/[:.]/g, "-").slice(0, 19);
  const parent = path.join(cwd, "results", agent);
  await makeOutputDirectory(parent);
  for (let number = 1; ; number++) {
    const directory = path.join(parent, number === 1 ? time : `${time}-${number}`);
    try {
      await mkdir(directory);
      return path.join(directory, "rollouts.jsonl");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw fileError(error, directory, "write");
    }
  }
}

/** Removes the directory of a rejected run if it is empty. */
export async function dropEmptyDirectory(output: string): Promise<void> {
  await rmdir(path.dirname(output)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST" && error.code !== "ENOENT") throw error;
  });
}

/** The same for a run whose rows were rejected: its servers have started, but their logs do not concern the rows. */
export async function dropRejectedRun(output: string): Promise<void> {
  await rm(path.join(path.dirname(output), "logs"), { recursive: true, force: true });
  await dropEmptyDirectory(output);
}
