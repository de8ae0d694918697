import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileLock, withFileLock } from "./file-lock.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "file-lock-"));
});
afterEach(() => rm(directory, { recursive: true }));

it("runs one task at a time, also after a failed one", async () => {
  const lock = join(directory, "x.lock");
  let running = 0;
  const task = async () => {
    expect(++running).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    running--;
    throw new Error("broken");
  };
  const results = await Promise.allSettled([1, 2, 3].map(() => withFileLock(lock, task)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await withFileLock(lock, async () => "done")).toBe("done");
});

it("takes over the lock of a process that is gone", async () => {
  const lock = join(directory, "x.lock");
  await writeFile(lock, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
  expect(await withFileLock(lock, async () => "done")).toBe("done");
});

it("reports at once that the path is a directory", async () => {
  const lock = join(directory, "x.lock");
  await mkdir(lock);
  await expect(withFileLock(lock, async () => "done")).rejects.toThrow(
    `'${lock}' is a directory where a lock file should be. Remove it.`,
  );
});

it("keeps a lock whose holder has not written its identity yet", async () => {
  const path = join(directory, "x.lock");
  await writeFile(path, "");
  expect(await FileLock.take(path, { silenceMs: 100 })).not.toBeInstanceOf(FileLock);
  const before = new Date(Date.now() - 3_000);
  await utimes(path, before, before);
  const lock = await FileLock.take(path);
  expect(lock).toBeInstanceOf(FileLock);
  await expect(FileLock.take(path)).resolves.toMatchObject({ pid: process.pid, host: hostname() });
});
