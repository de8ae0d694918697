import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { captureRun } from "../../tests/support/captured-run.ts";
import { newSandboxName } from "../sandbox/owner.ts";

const fake = fileURLToPath(new URL("../sandbox/testdata/fake-container-program.sh", import.meta.url));
const sandbox = (...words: string[]) => captureRun(["sandbox", ...words]);
const { PATH } = process.env;
let directory: string;
let left: string;
let used: string;

/** A docker with two containers: one of this process, one of a process that has ended. */
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-sandbox-commands-"));
  mkdirSync(path.join(directory, "bin"));
  symlinkSync(fake, path.join(directory, "bin", "docker"));
  process.env["PATH"] = `${directory}/bin:/usr/bin:/bin`;
  process.env["FAKE_STATE"] = directory;
  used = newSandboxName();
  left = newSandboxName().replace(/^(nemo-gym-\w+)-\d+-\w+-/, "$1-4194304-1-");
  for (const name of [used, left]) writeFileSync(path.join(directory, `${name}.pid`), "4194304");
});
afterEach(() => {
  process.env["PATH"] = PATH;
  delete process.env["FAKE_STATE"];
  rmSync(directory, { recursive: true, force: true });
});

it("reports which providers work, and a remedy for the others", async () => {
  const { stdout } = await sandbox("doctor", "--json");
  const checks = JSON.parse(stdout) as { provider: string; program?: string }[];
  const byName = Object.fromEntries(checks.map((check) => [check.program ?? check.provider, check]));
  expect(byName["docker"]).toMatchObject({ works: true, detail: "28.0.0" });
  expect(byName["podman"]).toMatchObject({ provider: "docker", works: false });
  expect(byName["enroot"]).toMatchObject({ works: false, detail: expect.stringContaining("Install enroot") });
  expect(byName["openshell"]).toMatchObject({ works: false });
  const { exitCode, stdout: table } = await sandbox("doctor");
  expect(exitCode).toBe(0);
  expect(table).toMatch(/docker\s+│ yes\s+│ 28.0.0/);
});

it("lists sandboxes and removes only those whose process has ended", async () => {
  const listed = JSON.parse((await sandbox("ls", "--json")).stdout) as { id: string; state: string }[];
  expect(listed.find(({ id }) => id === used)?.state).toBe("in use");
  expect(listed.find(({ id }) => id === left)?.state).toBe("left behind");
  expect((await sandbox("gc", "--dry-run")).stdout).toContain(`would remove ${left} (docker)`);
  expect(existsSync(path.join(directory, `${left}.pid`))).toBe(true);
  const { exitCode, stdout } = await sandbox("gc");
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`removed ${left} (docker)`);
  expect(existsSync(path.join(directory, `${left}.pid`))).toBe(false);
  expect(existsSync(path.join(directory, `${used}.pid`))).toBe(true);
});
