import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeBoardRun } from "../../../scripts/viewer/board-runs.ts";
import { captureRun } from "../../../tests/support/captured-run.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "gym-pack-"));
  await writeBoardRun(path.join(cwd, "results/one"), { rewards: [[1, 0], [1]] });
});
afterEach(() => rm(cwd, { recursive: true }));

const gym = (...argv: string[]) => captureRun(argv, { cwd });

it("packs a run, verifies it and finds a changed byte", async () => {
  const packed = await gym("run", "pack", "results/one", "-o", "one.gymrun");
  expect(packed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(packed.stdout).toContain("Read it: gym eval view one.gymrun");
  const digest = /Digest: +([0-9a-f]{64})/.exec(packed.stdout)?.[1] ?? "";
  const verified = await gym("run", "verify", "one.gymrun", "--digest", digest);
  expect(verified.exitCode).toBe(0);
  expect(verified.stdout).toMatch(
    /Rollouts: 3 of 3 scored .*\nReward: +0\.6667 \[0\.0000, 1\.0000\] over 2 tasks/,
  );
  for (const line of verified.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const json = JSON.parse((await gym("run", "verify", "one.gymrun", "--json")).stdout);
  expect(json).toMatchObject({ digest, tasks: 2, coverage: { ok: 3 } });

  const other = await gym("run", "verify", "one.gymrun", "--digest", "0".repeat(64));
  expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("this is another run")]);
  const bytes = await readFile(path.join(cwd, "one.gymrun"));
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(path.join(cwd, "changed.gymrun"), bytes);
  const changed = await gym("run", "verify", "changed.gymrun");
  expect([changed.exitCode, changed.stderr]).toEqual([1, expect.stringMatching(/is damaged at byte \d+/)]);
});

it("says what cannot be packed or verified", async () => {
  await writeBoardRun(path.join(cwd, "results/two"), { rewards: [[1]] });
  await gym("run", "pack", "results/one", "-o", "packed/one.gymrun");
  await mkdir(path.join(cwd, "packed"), { recursive: true });
  await copyFile(path.join(cwd, "results/one/rollouts.jsonl"), path.join(cwd, "plain.jsonl"));
  for (const [argv, exitCode, text] of [
    [
      "pack results",
      2,
      "'results' holds 2 runs. Name one: results/one/rollouts.jsonl, results/two/rollouts.jsonl",
    ],
    ["pack nothing", 1, "Input file not found: 'nothing' (RUN). There are: results/one/rollouts.jsonl"],
    ["pack results/one -o one.zip", 2, "the name must end with .gymrun"],
    ["verify plain.jsonl", 1, "is not a packed run of this format"],
  ] as const)
    expect(await gym("run", ...argv.split(" "))).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(text),
    });
});
