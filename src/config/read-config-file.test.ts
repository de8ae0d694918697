import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfigFile } from "./read-config-file.ts";

it("stops reading an endless device at the limit", () => {
  expect(() => readConfigFile("/dev/zero")).toThrow("'/dev/zero' cannot be read: it is larger than 4 MiB");
});

it("reads an empty device as an empty config", () => {
  expect(readConfigFile("/dev/null").entries.size).toBe(0);
});

it("does not wait for a pipe without a writer", () => {
  const folder = mkdtempSync(join(tmpdir(), "nemo-gym-pipe-"));
  const pipe = join(folder, "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  expect(() => readConfigFile(pipe)).toThrow("it is not a regular file");
  rmSync(folder, { recursive: true });
});
