import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { dropEmptyDirectory, dropRejectedRun, newOutput } from "./run-files.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), "nemo-gym-output-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const now = new Date("2026-01-02T03:04:05.678Z");

it("gives runs of the same second different outputs", async () => {
  const outputs = await Promise.all([1, 2, 3].map(() => newOutput(cwd, "agent", now)));
  expect(outputs.map((output) => path.relative(cwd, output)).sort()).toEqual([
    "results/agent/2026-01-02T03-04-05-2/rollouts.jsonl",
    "results/agent/2026-01-02T03-04-05-3/rollouts.jsonl",
    "results/agent/2026-01-02T03-04-05/rollouts.jsonl",
  ]);
});

it("leaves no directory for a rejected run", async () => {
  const output = await newOutput(cwd, "agent", now);
  writeFileSync(output, "");
  await dropEmptyDirectory(output);
  expect(existsSync(output)).toBe(true);
  rmSync(output);
  await dropEmptyDirectory(output);
  await dropEmptyDirectory(output);
  expect(existsSync(path.dirname(output))).toBe(false);
});

it("leaves no logs for a run whose rows were rejected", async () => {
  const output = await newOutput(cwd, "agent", now);
  const logs = path.join(path.dirname(output), "logs");
  mkdirSync(logs);
  writeFileSync(path.join(logs, "agent.log"), "started");
  await dropEmptyDirectory(output);
  expect(existsSync(logs)).toBe(true);
  await dropRejectedRun(output);
  expect(existsSync(path.dirname(output))).toBe(false);
});

it("reports a file in place of the directory", async () => {
  writeFileSync(path.join(cwd, "results"), "");
  await expect(newOutput(cwd, "agent", now)).rejects.toThrow(/results' is a file; a directory is needed/);
});
