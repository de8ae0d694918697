import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockRun } from "./run-lock.ts";

let directory: string;
let output: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-lock-"));
  output = path.join(directory, "out.jsonl");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const lockFile = () => `${output}.lock`;
const holder = () => JSON.parse(readFileSync(lockFile(), "utf8")) as Record<string, unknown>;

/** Writes a lock with the given differences from one of this process, and with the given age. */
async function leaveLock(changes: Record<string, unknown>, ageMs = 0): Promise<void> {
  const lock = await lockRun(output);
  const content = holder();
  lock.release();
  writeFileSync(lockFile(), JSON.stringify({ ...content, id: "other", ...changes }));
  const then = new Date(Date.now() - ageMs);
  utimesSync(lockFile(), then, then);
}

it("rejects a second run, also in the same process, until the first has ended", async () => {
  const first = await lockRun(output);
  await expect(lockRun(output)).rejects.toMatchObject({ code: "ROLLOUT_LOCKED" });
  first.release();
  (await lockRun(output)).release();
});

it("takes over the lock of an earlier process with the pid of this one", async () => {
  await leaveLock({ ticks: "1" });
  (await lockRun(output)).release();
});

it("takes over the lock of an earlier boot, and of a version that wrote only the pid", async () => {
  await leaveLock({ boot: "another" });
  (await lockRun(output)).release();
  writeFileSync(lockFile(), JSON.stringify({ pid: 2 ** 22 - 1, host: hostname(), started: "then" }));
  (await lockRun(output)).release();
});

it("takes over the lock of a lost container after the silence limit", async () => {
  await leaveLock({ namespace: "pid:[1]" });
  const began = performance.now();
  (await lockRun(output, { silenceMs: 1_500 })).release();
  expect(performance.now() - began).toBeGreaterThan(1_000);
});

it("does not take over the lock of a container that touches it", async () => {
  await leaveLock({ namespace: "pid:[1]" });
  const touching = setInterval(() => utimesSync(lockFile(), new Date(), new Date()), 200);
  try {
    await expect(lockRun(output, { silenceMs: 1_500 })).rejects.toMatchObject({
      code: "ROLLOUT_LOCKED",
    });
  } finally {
    clearInterval(touching);
  }
});

it("takes over the lock of another machine after two minutes of silence", async () => {
  await leaveLock({ host: "elsewhere", boot: "another" }, 60_000);
  await expect(lockRun(output)).rejects.toMatchObject({ code: "ROLLOUT_LOCKED" });
  await rm(lockFile());
  await leaveLock({ host: "elsewhere", boot: "another" }, 180_000);
  (await lockRun(output)).release();
});

it("has one holder when many take over at once", async () => {
  for (let round = 0; round < 20; round++) {
    await leaveLock({ boot: "another" });
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => lockRun(output)));
    const holders = taken.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(holders).toHaveLength(1);
    holders[0]?.release();
  }
});

it("names a directory that has the path of the lock", async () => {
  mkdirSync(lockFile());
  await expect(lockRun(output)).rejects.toMatchObject({ code: "ROLLOUT_FILE_IS_DIRECTORY" });
});
