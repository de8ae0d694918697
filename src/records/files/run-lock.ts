import { FileLock, type LockOptions } from "../../base/files/door.ts";
import { fileError, RolloutError } from "../errors.ts";

/** Locks an output. A second run on it is rejected; the lock of a process that has ended is replaced. */
export async function lockRun(output: string, options: LockOptions = {}): Promise<FileLock> {
  const path = `${output}.lock`;
  let lock: Awaited<ReturnType<typeof FileLock.take>>;
  try {
    lock = await FileLock.take(path, options);
  } catch (error) {
    throw fileError(error, path, "write");
  }
  if (lock instanceof FileLock) return lock;
  throw new RolloutError(
    "ROLLOUT_LOCKED",
    `'${output}' has been in use by process ${lock.pid} on ${lock.host} since ${lock.started}. ` +
      `Wait for it, choose another --output, or remove '${path}' if that run is gone.`,
  );
}
