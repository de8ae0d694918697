import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sweepRuns } from "./budget-server.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sweep-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

it("removes the directories of killed runs, and nothing else", async () => {
  const at = (...names: string[]) => join(directory, ...names);
  for (const name of ["run-alive", "run-killed", "run-empty", "other"]) mkdirSync(at(name), { mode: 0o700 });
  writeFileSync(at("run-file"), "");
  const alive = createServer();
  await new Promise<void>((resolve) => alive.listen(at("run-alive", "run.sock"), resolve));
  const listen = `require("net").createServer().listen(${JSON.stringify(at("run-killed", "run.sock"))}, () => console.log("up"))`;
  const killed = spawn(process.execPath, ["-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
  await once(killed.stdout, "data");
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const left = () =>
    ["run-alive", "run-killed", "run-empty", "run-file", "other"].filter((name) => existsSync(at(name)));
  await sweepRuns(directory);
  expect(left()).toHaveLength(5);
  await sweepRuns(directory, Date.now() + 120_000);
  expect(left()).toEqual(["run-alive", "run-file", "other"]);
  await sweepRuns(at("missing"));
  alive.close();
});

it("does not remove links, or directories that others can change", async () => {
  const at = (...names: string[]) => join(directory, ...names);
  mkdirSync(at("victim"), { mode: 0o700 });
  writeFileSync(at("victim", "file"), "");
  symlinkSync(at("victim"), at("run-link"));
  mkdirSync(at("run-open"));
  chmodSync(at("run-open"), 0o777);
  symlinkSync(at("victim"), at("run-open", "x"));
  await sweepRuns(directory, Date.now() + 120_000);
  expect([at("victim", "file"), at("run-link"), at("run-open", "x")].filter(existsSync)).toHaveLength(3);
});
