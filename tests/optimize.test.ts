import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { startGym } from "./support/queue-runs.ts";

const DESK = [
  ...["--search-dir", path.join(repository, "examples")],
  ...["--resources-server", "booking_desk", "--model-type", "rule_follower"],
];
const SPLITS = ["--train", "40", "--val", "15", "--test", "20", "--max-rollouts", "200"];
const COMPONENTS = ["-c", "system_prompt", "-c", "tools.*.description"];
const OPTIMIZE = ["optimize", ...DESK, ...SPLITS, ...COMPONENTS, "-o", "opt"];

const linesOf = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const rolloutsIn = (directory: string) =>
  readdirSync(path.join(directory, "batches")).reduce(
    (sum, name) => sum + linesOf(path.join(directory, "batches", name, "rollouts.jsonl")).length,
    0,
  );

it("improves texts, proves it, and the result is a config layer", { timeout: 180_000 }, async () => {
  const cwd = await project({});
  const { exitCode, stdout, stderr } = await runGym(OPTIMIZE, { cwd });
  expect(stderr + stdout).toContain("Improved by");
  expect(exitCode).toBe(0);
  for (const line of (stdout + stderr).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(readFileSync(path.join(cwd, "opt/report.md"), "utf8")).toContain("| Difference, paired by task |");
  expect(rolloutsIn(path.join(cwd, "opt"))).toBeLessThanOrEqual(200);
  const after = await runGym(["eval", "run", "--config", "opt/best.yaml", ...DESK, "-o", "after.jsonl"], {
    cwd,
  });
  expect(after.exitCode).toBe(0);
  const rewards = linesOf(path.join(cwd, "after.jsonl")).map(({ reward }) => reward);
  expect(rewards.filter((reward) => reward === 1).length / rewards.length).toBeGreaterThan(0.7);
  const again = await runGym(OPTIMIZE, { cwd });
  expect(again.stderr).toContain("continue that optimization with --resume");
});

it("goes on after kill -9 with the same candidates, and pays for no rollout twice", {
  timeout: 300_000,
}, async () => {
  const cwd = await project({});
  await runGym([...OPTIMIZE.slice(0, -1), "whole"], { cwd });
  for (let kills = 1; kills <= 4; kills++) await killedAfter(kills * 3, cwd);
  const { exitCode } = await runGym([...OPTIMIZE, "--resume"], { cwd });
  expect(exitCode).toBe(0);
  const steps = (name: string) => linesOf(path.join(cwd, name, "lineage.jsonl"));
  expect(steps("opt").map(({ kind, key, rewards }) => ({ kind, key, rewards }))).toEqual(
    steps("whole").map(({ kind, key, rewards }) => ({ kind, key, rewards })),
  );
  expect(rolloutsIn(path.join(cwd, "opt"))).toBe(rolloutsIn(path.join(cwd, "whole")));
});

/** Kills an optimization when its record has this many lines, unless it ends before. */
async function killedAfter(lines: number, cwd: string): Promise<void> {
  const child: ChildProcess = spawn(
    process.execPath,
    [path.join(repository, "bin/gym.js"), ...OPTIMIZE, "--resume"],
    { cwd, env: { PATH: process.env["PATH"], HOME: cwd }, stdio: "ignore" },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const record = path.join(cwd, "opt/lineage.jsonl");
  const timer = setInterval(() => {
    if (existsSync(record) && readFileSync(record, "utf8").split("\n").length > lines) child.kill("SIGKILL");
  }, 20);
  await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(timer);
}

const withoutBroker = missingBroker();
if (withoutBroker !== undefined) console.warn(`gym optimize over the queue is not tested: ${withoutBroker}.`);

it.skipIf(withoutBroker !== undefined)("lets workers run the rollouts", { timeout: 300_000 }, async () => {
  const cwd = await project({});
  const broker = new TestBroker(await freePort());
  onTestFinished(() => broker.close());
  await broker.start();
  startGym(["worker", "--queue", broker.url, "--search-dir", path.join(repository, "examples")], cwd);
  const few = ["--train", "20", "--val", "8", "--test", "10", "--max-rollouts", "60"];
  const words = ["optimize", ...DESK, ...COMPONENTS, ...few, "--queue", broker.url, "-o", "opt"];
  const { exitCode, stderr } = await runGym(words, { cwd });
  expect(exitCode, stderr).toBe(0);
  const batches = linesOf(path.join(cwd, "opt/lineage.jsonl")).filter(({ kind }) => kind === "batch");
  expect(batches.length).toBeGreaterThan(1);
  for (const { failed } of batches) expect(failed).toBe(0);
  expect(rolloutsIn(path.join(cwd, "opt"))).toBeLessThanOrEqual(60);
});

it.each([
  [["-c", "sistem_prompt"], "Did you mean 'system_prompt'?"],
  [[...COMPONENTS, "--reflection-model", "big_model"], "The config has no model server 'big_model'"],
  [[...COMPONENTS, "--train", "500"], "The input has 100 different rows"],
  [[...COMPONENTS, "--train", "3.5"], "'3.5' is not a number of rows (whole, at least 1) or a file"],
  [[...COMPONENTS, "--max-rollouts", "30"], "30 rollouts are too few: at least 92 are needed"],
  [[...COMPONENTS, "--val", "rows.jsonl", "--test", "rows.jsonl"], "The three splits must not share a row."],
])("rejects %j with a clear error", async (flags, message) => {
  const rows = linesOf(path.join(repository, "examples/resources_servers/booking_desk/data/example.jsonl"));
  const cwd = await project({
    "rows.jsonl": rows
      .slice(0, 10)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  });
  const { exitCode, stderr } = await runGym(["optimize", ...DESK, ...flags, "-o", "opt"], { cwd });
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr.replace(/\s+/g, " ")).toContain(message);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it("checks the rows of all splits before the first rollout", { timeout: 120_000 }, async () => {
  const example = path.join(repository, "examples/resources_servers/booking_desk/data/example.jsonl");
  const rows = linesOf(example);
  const broken = { ...rows[20], expected_booking: 7 };
  const file = (given: object[]) => given.map((row) => `${JSON.stringify(row)}\n`).join("");
  const cwd = await project({ "test.jsonl": file([...rows.slice(15, 20), broken]) });
  const few = ["--train", "5", "--val", "5", "--test", "test.jsonl", "--max-rollouts", "60"];
  const words = ["optimize", ...DESK, ...COMPONENTS, ...few, "-o", "opt"];
  const { exitCode, stderr } = await runGym(words, { cwd });
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toMatch(/test\.jsonl:6: .*expected_booking/);
  expect(existsSync(path.join(cwd, "opt/batches"))).toBe(false);
  // The mistake does not prevent another start, and the check can be skipped.
  const unchecked = await runGym([...words, "++check_rows=false"], { cwd });
  expect(unchecked.stdout + unchecked.stderr).toContain("search ended");
  expect(linesOf(path.join(cwd, "opt/lineage.jsonl")).length).toBeGreaterThan(1);
});

it("uses the skills of the config", { timeout: 120_000 }, async () => {
  const skill = "---\nname: plan\ndescription: Plans.\n---\nThink.\n";
  const cwd = await project({ "skills/plan/SKILL.md": skill });
  const few = ["--train", "5", "--val", "5", "--test", "5", "--max-rollouts", "40"];
  const run = (...words: string[]) => runGym(["optimize", ...DESK, ...few, ...words], { cwd });
  await run("-c", "system_prompt", "++skills.path=skills", "-o", "opt1");
  const batch = path.join(cwd, "opt1/batches/0001-c0-val/rollouts.jsonl");
  for (const row of linesOf(batch)) expect(row.skills_ref.path).toBe(path.join(cwd, "skills"));
  // The path of a result works from any directory.
  await run("-c", "skills=./skills", "-c", "system_prompt", "-o", "opt2");
  expect(readFileSync(path.join(cwd, "opt2/best.yaml"), "utf8")).toMatch(/^skills:\n {2}path: \//m);
});

it("resumes only with the same settings, or a larger budget", { timeout: 120_000 }, async () => {
  const cwd = await project({});
  const few = ["--train", "10", "--val", "5", "--test", "5", "-o", "opt"];
  const words = ["optimize", ...DESK, ...COMPONENTS, ...few];
  await runGym([...words, "--max-tokens", "1"], { cwd }).then(({ stderr }) => {
    expect(stderr).toContain("The budget ended during the first validation");
    expect(stderr).not.toMatch(/^\s+at /m);
  });
  const other = ["--resume", "--minibatch", "4", "++responses_create_params={temperature: 0.5}"];
  const { stderr } = await runGym([...words, ...other], { cwd });
  expect(stderr).toContain("minibatch was 3, is 4");
  expect(stderr).toContain('config.collection.responses_create_params was null, is {"temperature":0.5}');
  expect(stderr).not.toContain("--force");
  const { exitCode } = await runGym([...words, "--resume"], { cwd });
  expect(exitCode).toBe(0);
  const config = readFileSync(path.join(cwd, "opt/best.yaml"), "utf8");
  const smaller = await runGym([...words, "--resume", "--max-rollouts", "40"], { cwd });
  expect(smaller.stderr).toContain("the budget was larger then");
  expect(readFileSync(path.join(cwd, "opt/best.yaml"), "utf8")).toBe(config);
});

it("prints events as JSON lines", { timeout: 120_000 }, async () => {
  const cwd = await project({});
  const { stdout } = await runGym([...OPTIMIZE, "--json"], { cwd });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(["batch", "candidate", "status", "finished"]),
  );
});

it("changes a text of the config, with servers of its own for each batch", { timeout: 120_000 }, async () => {
  const cwd = await project({});
  const component = "config.booking_desk.resources_servers.booking_desk.description";
  const few = ["--train", "3", "--val", "3", "--test", "5", "--max-rollouts", "40"];
  const { exitCode, stderr } = await runGym(["optimize", ...DESK, ...few, "-c", component, "-o", "opt"], {
    cwd,
  });
  expect(exitCode, stderr).toBe(0);
  const { failed, rollouts } = linesOf(path.join(cwd, "opt/lineage.jsonl"))[1];
  expect([failed, rollouts]).toEqual([0, 3]);
});
