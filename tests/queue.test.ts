import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";

const missing = missingBroker();
if (missing !== undefined) console.warn(`Tests of distributed runs are left out: ${missing}.`);

const ROW =
  readFileSync(join(repository, "resources_servers/mcqa/data/example.jsonl"), "utf8").split("\n")[0] ?? "";
const EVALUATION = ["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model"];

let broker: TestBroker;

const sortedLines = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n").sort();

/** Starts the program without waiting for it; what it says is kept. */
function startGym(
  words: readonly string[],
  cwd: string,
): { child: ChildProcess; ended: Promise<number | null>; text(): string } {
  const child = spawn(process.execPath, [join(repository, "bin/gym.js"), ...words], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended, text: () => text };
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 600) throw new Error(`waited for ${what} in vain`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function rows(count: number): Promise<string> {
  const directory = await project({});
  const lines = Array.from({ length: count }, (_, number) => JSON.stringify({ ...JSON.parse(ROW), number }));
  writeFileSync(join(directory, "rows.jsonl"), `${lines.join("\n")}\n`);
  return directory;
}

const queued = (output: string, ...more: string[]) => [
  ...EVALUATION,
  "-i",
  "rows.jsonl",
  "-o",
  output,
  "--queue",
  broker.url,
  ...more,
];
const worker = (...more: string[]) => ["worker", "--queue", broker.url, ...more];

describe.skipIf(missing !== undefined)("distributed runs", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    broker = new TestBroker(await freePort());
    await broker.start();
  });
  afterAll(() => broker.close());

  it("gives the same rows as a run on one machine", async () => {
    const cwd = await rows(200);
    const workers = [1, 2].map(() => startGym(worker("--concurrency", "16"), cwd));
    const distributed = await runGym(queued("queued.jsonl", "--json"), { cwd });
    expect(distributed.exitCode, distributed.stderr).toBe(0);
    const local = await runGym([...EVALUATION, "-i", "rows.jsonl", "-o", "local.jsonl"], { cwd });
    expect(local.exitCode, local.stderr).toBe(0);
    expect(sortedLines(join(cwd, "queued.jsonl"))).toEqual(sortedLines(join(cwd, "local.jsonl")));
    const metrics = (name: string) =>
      JSON.parse(readFileSync(join(cwd, `${name}_aggregate_metrics.json`), "utf8"));
    expect(metrics("queued")).toEqual(metrics("local"));
    // Nothing of the run is left at the broker.
    const status = await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd });
    expect(JSON.parse(status.stdout).runs).toEqual([]);
    for (const { child } of workers) child.kill("SIGINT");
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(workers[0]?.text()).toContain("Worker ended (interrupted)");
  });

  it("fails rollouts like a run on one machine, and tries them again", async () => {
    const cwd = await rows(20);
    startGym(worker(), cwd);
    const failing = "++policy_model.responses_api_models.random_model.failure_rate=1";
    const { exitCode, stderr } = await runGym(queued("failed.jsonl", failing), { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("provider_error");
    const failures = sortedLines(join(cwd, "failed_failures.jsonl")).map((line) => JSON.parse(line));
    expect(failures).toHaveLength(60);
    expect(failures.map((row) => row._ng_attempt_index ?? 0).sort()).toEqual([
      ...Array(20).fill(0),
      ...Array(20).fill(1),
      ...Array(20).fill(2),
    ]);
  });

  it("is resumed on the same broker after the collector was killed", async () => {
    const cwd = await rows(300);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=300";
    startGym(worker("--concurrency", "16"), cwd);
    const first = startGym(queued("resumed.jsonl", slow, "--json"), cwd);
    await until("results", () => (first.text().match(/"event":"rollout"/g) ?? []).length > 40);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = await runGym(queued("resumed.jsonl", slow, "--resume"), { cwd });
    expect(second.exitCode, second.stderr).toBe(0);
    const keys = sortedLines(join(cwd, "resumed.jsonl")).map((line) => JSON.parse(line)._ng_task_index);
    expect(new Set(keys).size).toBe(300);
    expect(keys).toHaveLength(300);
  });

  it("says what is wrong with an address, a login and a run", async () => {
    const cwd = await rows(1);
    const wrong = await runGym(["queue", "status", "--queue", "http://x"], { cwd });
    expect(wrong.stderr).toContain("it looks like nats://host:4222");
    const nobody = await runGym(["queue", "status", "--queue", `nats://127.0.0.1:${await freePort()}`], {
      cwd,
    });
    expect(nobody.stderr).toContain("`gym queue up` starts one");
    const unknown = await runGym(["queue", "purge", "abc", "--queue", broker.url], { cwd });
    expect(unknown.stderr).toContain("The broker has no run 'abc'. Runs: none.");
    const closed = new TestBroker(await freePort(), { words: ["--user", "gym", "--pass", "secret"] });
    await closed.start();
    onTestFinished(() => closed.close());
    const refused = await runGym(["queue", "status", "--queue", closed.url], { cwd });
    expect(refused.stderr).toContain("refused the login");
    const env = { NATS_USER: "gym", NATS_PASSWORD: "secret" };
    const allowed = await runGym(["queue", "status", "--queue", closed.url, "--json"], { cwd, env });
    expect(allowed.exitCode, allowed.stderr).toBe(0);
  });
});
