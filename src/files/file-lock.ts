import { open, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "./process-identity.ts";

/** Locked work takes milliseconds. Waiting longer means that the holder hangs. */
const WAIT_LIMIT_MS = 10_000;
const RETRY_MS = 5;
/** A lock of another machine, whose holder cannot be checked, is taken over after this time. */
const UNKNOWN_HOLDER_LIMIT_MS = 60_000;
/** Holders write their name at once. A file without a name was left by a Python writer, which locks it and never removes it. */
const UNNAMED_HOLDER_LIMIT_MS = 2_000;

const queues = new Map<string, Promise<unknown>>();

/** Runs one task at a time per lock file, in this process and in others. */
export function withFileLock<T>(path: string, task: () => Promise<T>): Promise<T> {
  const before = queues.get(path) ?? Promise.resolve();
  const run = before.then(async () => {
    await take(path);
    try {
      return await task();
    } finally {
      await rm(path, { force: true });
    }
  });
  const settled = run
    .catch(() => undefined)
    .then(() => {
      if (queues.get(path) === settled) queues.delete(path);
    });
  queues.set(path, settled);
  return run;
}

async function take(path: string): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    try {
      const file = await open(path, "wx");
      try {
        await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }));
      } finally {
        await file.close();
      }
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (await isAbandoned(path)) await rm(path, { force: true });
    else if (Date.now() > deadline)
      throw new Error(`'${path}' has been locked for ${WAIT_LIMIT_MS / 1000} s`);
    else await sleep(RETRY_MS);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) {
    throw new Error(`'${path}' is a directory where a lock file should be. Move it away.`);
  }
  const text = await readFile(path, "utf8").catch(() => undefined);
  // Gone by now: the next attempt takes it.
  if (text === undefined || found === undefined) return false;
  const age = Date.now() - found.mtimeMs;
  if (text === "") return age > UNNAMED_HOLDER_LIMIT_MS;
  try {
    const { pid, host } = JSON.parse(text) as { pid: number; host: string };
    if (host === hostname()) return !isRunning(pid);
  } catch {
    // Written half: its age decides.
  }
  return age > UNKNOWN_HOLDER_LIMIT_MS;
}
