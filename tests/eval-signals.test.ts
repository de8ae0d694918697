import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";

const MCQA = ["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model", "-o", "out.jsonl"];
const LATENCY = "++policy_model.responses_api_models.random_model.latency_ms";

function start(cwd: string, argv: readonly string[], out: "pipe" | "ignore" = "ignore"): ChildProcess {
  return spawn(process.execPath, [path.join(repository, "bin/gym.js"), ...argv], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd },
    stdio: ["ignore", out, "pipe"],
  });
}

/** Waits until the process has written this text to stderr. */
function said(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let all = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      all += chunk;
      if (all.includes(text)) resolve();
    });
    child.on("close", () => reject(new Error(`ended without saying '${text}':\n${all}`)));
  });
}

const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));

const rowCount = (file: string) => readFileSync(file, "utf8").split("\n").filter(Boolean).length;

it("a run continues to its end if its reader closes the pipe", { timeout: 60_000 }, async () => {
  const cwd = await project({});
  const child = start(cwd, [...MCQA, `${LATENCY}=100`, "--num-repeats", "3", "--json"], "pipe");
  child.stdout?.once("data", () => child.stdout?.destroy());
  const told = said(child, "the run continues without it");
  expect(await ended(child)).toBe(0);
  await told;
  expect(rowCount(path.join(cwd, "out.jsonl"))).toBe(
    rowCount(path.join(cwd, "out_materialized_inputs.jsonl")),
  );
  expect(existsSync(path.join(cwd, "out.jsonl.lock"))).toBe(false);
});

/** Sends the signal to a run whose model never responds; the run must exit by itself and be resumable. */
async function stopsBy(signal: NodeJS.Signals, code: number, cwd: string): Promise<void> {
  const child = start(cwd, [...MCQA, "--limit", "4", `${LATENCY}=600000`]);
  const end = ended(child);
  await said(child, "Collecting 4 rollouts");
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const told = said(child, "They have 10 s; --resume continues later");
  child.kill(signal);
  await told;
  expect(await end).toBe(code);
  expect(existsSync(path.join(cwd, "out.jsonl.lock"))).toBe(false);
  const again = [...MCQA, "--limit", "4", `${LATENCY}=0`, "--resume", "--force"];
  const resumed = await runGym(again, { cwd });
  expect(resumed.exitCode).toBe(0);
  expect(rowCount(path.join(cwd, "out.jsonl"))).toBe(4);
}

it("SIGTERM and SIGHUP end a run in bounded time, each with its own exit code", {
  timeout: 60_000,
}, async () => {
  const [first, second] = [await project({}), await project({})];
  await Promise.all([stopsBy("SIGTERM", 143, first), stopsBy("SIGHUP", 129, second)]);
});

it("gym eval ctl lists only the selected run", { timeout: 60_000 }, async () => {
  const cwd = await project({});
  const env = { XDG_RUNTIME_DIR: cwd };
  const none = await runGym(["eval", "ctl", "--json", "--pid", "1"], { cwd, env });
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toContain("No such run is in progress. In progress: none.");
  expect((await runGym(["eval", "ctl", "--json"], { cwd, env })).stdout).toBe("[]\n");
});
