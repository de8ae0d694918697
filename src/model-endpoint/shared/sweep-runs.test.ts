import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sweepRuns } from "./sweep-runs.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sweep-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

it("removes what killed runs have left, and nothing else", async () => {
  const at = (...names: string[]) => join(directory, ...names);
  for (const name of ["nemo-gym-run-alive", "nemo-gym-run-killed", "nemo-gym-run-empty", "other"])
    mkdirSync(at(name));
  writeFileSync(at("nemo-gym-run-file"), "");
  const alive = createServer();
  await new Promise<void>((resolve) => alive.listen(at("nemo-gym-run-alive", "run.sock"), resolve));
  const listen = `require("net").createServer().listen(${JSON.stringify(at("nemo-gym-run-killed", "run.sock"))}, () => console.log("up"))`;
  const killed = spawn(process.execPath, ["-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
  await once(killed.stdout, "data");
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const left = () =>
    ["nemo-gym-run-alive", "nemo-gym-run-killed", "nemo-gym-run-empty", "nemo-gym-run-file", "other"].filter(
      (name) => existsSync(at(name)),
    );
  await sweepRuns(directory);
  expect(left()).toHaveLength(5);
  await sweepRuns(directory, Date.now() + 120_000);
  expect(left()).toEqual(["nemo-gym-run-alive", "nemo-gym-run-file", "other"]);
  await sweepRuns(at("missing"));
  alive.close();
});
