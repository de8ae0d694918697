import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runInBackground, runProcess } from "./run-process.ts";

const limits = { timeoutMs: 30_000, maxOutputBytes: 1024 * 1024 };
const shell = (script: string) => ({ program: "/bin/sh", args: ["-c", script] });

describe("runProcess", () => {
  it("forwards input, output, descriptors and exit codes", async () => {
    const chunks = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(10_000, "x"));
    const outcome = await runProcess({
      ...shell("cat; cat <&3 >&2; echo four >&4; exit 3"),
      ...{ ...limits, stdin: Readable.from(chunks), input3: "three", readOutput4: true },
    });
    expect(outcome).toMatchObject({ code: 3, stderr: "three", output4: "four\n", timedOut: false });
    expect(outcome.stdout).toBe(chunks.join(""));
    await expect(runProcess({ ...shell("kill -9 $$"), ...limits })).resolves.toMatchObject({ code: 137 });
    await expect(runProcess({ program: "/nowhere", args: [], ...limits })).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  it("blocks a process whose output is not read", async () => {
    const output = new PassThrough();
    let written = "";
    const stop = new AbortController();
    const ended = runInBackground(
      {
        ...shell("i=0; while :; do head -c 100000 /dev/zero; i=$((i+1)); echo $i >&2; done"),
        ...{ stdoutTo: output, maxSinkBytes: Number.MAX_SAFE_INTEGER, maxOutputBytes: 1000 },
      },
      stop.signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 1000));
    stop.abort();
    ({ stderr: written } = await ended);
    // Only the capacity of the pipes and buffers was written.
    expect(written.split("\n").length).toBeLessThan(20);
  });

  it("kills the group at the time limit or when the signal fires", async () => {
    const slow = { ...shell("sleep 60 & sleep 60"), ...limits };
    await expect(runProcess({ ...slow, timeoutMs: 200 })).resolves.toMatchObject({ timedOut: true });
    const signal = AbortSignal.timeout(200);
    await expect(runProcess({ ...slow, signal })).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("fails running processes if the starter is killed, and starts a new starter", () => {
    const directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
    const script = path.join(directory, "main.mts");
    writeFileSync(
      script,
      `import { execFileSync } from "node:child_process";
       import { runProcess } from ${JSON.stringify(fileURLToPath(new URL("run-process.ts", import.meta.url)))};
       const run = (script) => runProcess({ program: "/bin/sh", args: ["-c", script], timeoutMs: null, maxOutputBytes: 99 });
       const { stdout: starter } = await run("echo $PPID");
       const failed = run("sleep 60").catch((error) => error.message);
       process.kill(Number(starter), "SIGKILL");
       console.log(await failed);
       console.log((await run("echo again")).stdout.trim());`,
    );
    try {
      const words = ["--import", "jiti/register", script];
      const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
      expect([stderr, status]).toEqual(["", 0]);
      expect(stdout.trim().split("\n")).toEqual([
        "The program that starts processes has ended (SIGKILL).",
        "again",
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
