import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { project, runGym } from "./gym-process.ts";

const MODEL = ["--model-type", "random_model"];
const suite = `
suite:
  description: two that run and one that does not exist
  settings: {num_repeats: 2, responses_create_params: {temperature: 0.5}}
  members:
  - resources_server: mcqa
    settings: {num_repeats: 1, limit: 2}
    expected: {value: 0.5, tolerance: 0.5}
  - benchmark: no_such_benchmark
    name: absent
  - resources_server: mcqa
    name: seldom
    settings: {limit: 1, responses_create_params: {top_p: 0.9}}
    expected: {value: 5, tolerance: 0.1}
`;

const inputsOf = (cwd: string, member: string) =>
  readFileSync(path.join(cwd, "out", member, "rollouts_materialized_inputs.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).responses_create_params);

it("runs the members of a suite, each by itself, prints one table, and resumes", async () => {
  const cwd = await project({ "mine.yaml": suite });
  const words = ["eval", "run", "--suite", "mine.yaml", ...MODEL, "-o", "out"];
  const first = await runGym(words, { cwd });
  expect(first.exitCode).toBe(1);
  expect(first.stdout).toMatch(/│ mcqa +│ \d\.\d+ │ .* │ 0\.5 ± 0\.5 │ 2\/2 +│ done/);
  expect(first.stdout).toMatch(/│ absent .* cannot run/);
  expect(first.stdout).toMatch(/│ seldom .* │ 5 ± 0\.1 +│ 2\/2 +│ not as expected/);
  expect(first.stdout).toContain("there is no benchmark 'no_such_benchmark' here");
  expect(Math.max(...first.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(inputsOf(cwd, "mcqa")).toMatchObject([{ temperature: 0.5 }, { temperature: 0.5 }]);
  expect(inputsOf(cwd, "seldom")[0]).toMatchObject({ temperature: 0.5, top_p: 0.9 });

  const report = JSON.parse(readFileSync(path.join(cwd, "out/suite.json"), "utf8"));
  expect(report.members.map(({ status }: { status: string }) => status)).toEqual([
    "done",
    "cannot_run",
    "done",
  ]);

  await writeFile(
    path.join(cwd, "mine.yaml"),
    suite.replace("  - benchmark: no_such_benchmark\n    name: absent\n", ""),
  );
  const again = await runGym([...words, "--resume", "--json"], { cwd });
  expect(again.exitCode).toBe(3);
  const last = JSON.parse(again.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({
    event: "suite",
    members: [
      { member: "mcqa", status: "done", scored: 2, as_expected: true },
      { member: "seldom", status: "done", as_expected: false },
    ],
  });
  // Nothing ran again.
  expect(inputsOf(cwd, "mcqa")).toHaveLength(2);
}, 120_000);

it("lists suites, and names what is wrong in one", async () => {
  const cwd = await project({
    "bad.yaml": "suite:\n  members:\n  - benchmrk: gsm8k\n",
    "twice.yaml": "suite:\n  members:\n  - benchmark: gsm8k\n  - benchmark: gsm8k\n",
  });
  const gym = async (...words: string[]) => {
    const { stdout, stderr } = await runGym(words, { cwd });
    return stdout + stderr;
  };
  expect(await gym("list", "suites")).toContain("nemotron_3_ultra/benchmarks_short");
  const long = await gym("list", "suites", "nemotron_3_ultra/benchmarks_long");
  expect(long).toContain("ruler_256k cannot run: there is no benchmark 'ruler/config_nemotron_3_256k'");
  expect(long).toContain("tau2 cannot run: its data is not here (benchmarks/tau2/nemo_gym_data/).");
  const json = JSON.parse((await runGym(["list", "suites", "math_basics", "--json"], { cwd })).stdout);
  expect(json.members.map(({ state }: { state: string }) => state)).not.toContain("cannot run");
  expect(await gym("list", "suites", "math_basic")).toContain("Did you mean `math_basics`?");
  expect(await gym("list", "suites", "bad.yaml")).toContain("did you mean 'benchmark'?");
  expect(await gym("list", "suites", "twice.yaml")).toContain("two members have the name 'gsm8k'");
  expect(await gym("eval", "run", "--suite", "math_basics", "--benchmark", "gsm8k", ...MODEL)).toContain(
    "--suite cannot be combined with --benchmark",
  );
}, 60_000);
