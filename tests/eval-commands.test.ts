import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";
import { MlflowTrackingServer } from "./support/mlflow-tracking-server.ts";
import { WandbServer } from "./support/wandb-server.ts";

const TOOL_CALL = ["--resources-server", "example_single_tool_call", "--model-type", "random_model"];
const AGENT = "example_single_tool_call_simple_agent";

/** A resources server whose judge responds only after the file `judge.ok` exists, and a model that says "yes". */
const JUDGED: Record<string, string> = {
  "resources_servers/judged/app.ts": `
import { existsSync } from "node:fs";
import { defineResourcesServer, JudgeError } from "nemo-gym";
export default defineResourcesServer({
  reverifyMode: "stateless",
  verify: ({ body }) => {
    if (body.needs_judge && !existsSync(body.judge_file)) throw new JudgeError("the judge is out");
    return { reward: body.worth ?? 1 };
  },
  metrics: { compute: (tasks) => ({ tasks_seen: tasks.length }) },
});
`,
  "responses_api_models/agreeable/app.ts": `
import { defineModel } from "nemo-gym";
export default defineModel({
  async responses() {
    return { id: "resp", created_at: 0, model: "yes", object: "response", parallel_tool_calls: true, tool_choice: "auto", tools: [],
      output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text: "yes", annotations: [] }] }] };
  },
});
`,
  "judged.yaml": `
judged:
  resources_servers:
    judged: {entrypoint: app.ts, domain: other}
judged_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: judged}
      model_server: {type: responses_api_models, name: policy_model}
policy_model:
  responses_api_models:
    agreeable: {entrypoint: app.ts}
`,
};

type Row = Record<string, unknown>;

const lines = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const rowsOf = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);

const rollout = (task: number, index: number, reward: unknown, more: Row = {}): Row => ({
  responses_create_params: { input: [{ role: "user", content: `question ${task}` }] },
  response: {
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] }],
    usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
  },
  reward,
  agent_ref: { name: "solver" },
  _ng_task_index: task,
  _ng_rollout_index: index,
  ...more,
});
const input = (task: number, index: number): Row => ({
  question: `question ${task}`,
  agent_ref: { name: "solver" },
  _ng_task_index: task,
  _ng_rollout_index: index,
});

async function gym(cwd: string, words: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await runGym(words, { cwd, env });
  return { exitCode, stdout, stderr, text: stdout + stderr };
}

/** A run of three tasks with two rollouts each, with its materialized inputs. */
async function storedRun(rewards: readonly number[] = [1, 0, 1, 1, 0, 0]) {
  const keys = rewards.map((_, place) => [Math.floor(place / 2), place % 2] as const);
  return project({
    "run.jsonl": lines(keys.map(([task, index], place) => rollout(task, index, rewards[place]))),
    "run_materialized_inputs.jsonl": lines(keys.map(([task, index]) => input(task, index))),
    "tasks.jsonl": lines([0, 1, 2].map((task) => ({ question: `question ${task}` }))),
  });
}

describe("gym eval run --benchmark", () => {
  it("prepares the rows that are missing, runs and scores them", async () => {
    const cwd = await project({});
    const words = ["eval", "run", "--benchmark", "mmlu", "--model-type", "random_model"];
    const first = await runGym([...words, "-o", "first.jsonl"], { cwd });
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.stderr).toContain("mmlu: using the included rows,");
    expect(first.stderr).toContain("mmlu: prepared benchmarks/mmlu/data/mmlu_benchmark.jsonl");
    expect(first.stdout).toContain("Coverage: 10 of 10 rollouts scored");
    const second = await runGym([...words, "-o", "second.jsonl"], { cwd });
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.stderr).not.toContain("prepared");
    const input = await runGym([...words, "-o", "third.jsonl", "-i", "none.jsonl"], { cwd });
    expect(input).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("none.jsonl") });
  });
});

describe("gym eval profile", () => {
  it("writes both files and reports the coverage", async () => {
    const cwd = await storedRun();
    const words = ["eval", "profile", "--inputs", "run_materialized_inputs.jsonl", "--rollouts", "run.jsonl"];
    const { exitCode, stdout } = await gym(cwd, words);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      "Rollouts: 6 of 6 completed (100.00 %)\nInput rows: 3 in all, 3 complete, 0 partial, 0 without rollouts\n" +
        "Pass rate: 50.00 % (3 of 6 rollouts have a reward of 1 or more)\n" +
        "Profile:       run_reward_profiling.jsonl\nAgent metrics: run_agent_metrics.json\n",
    );
    expect(rowsOf(path.join(cwd, "run_reward_profiling.jsonl"))).toMatchObject([
      { "mean/reward": 0.5, num_rollouts: 2, sample: { question: "question 0" } },
      { "mean/reward": 1 },
      { "mean/reward": 0 },
    ]);
    const missing = await gym(cwd, ["eval", "profile", "--inputs", "no.jsonl", "--rollouts", "run.jsonl"]);
    expect(missing).toMatchObject({
      exitCode: 1,
      stderr: "Error: Input file not found: 'no.jsonl' (--inputs).\n",
    });
    expect((await gym(cwd, ["eval", "profile"])).stderr).toContain(
      "missing required configuration: materialized_inputs_jsonl_fpath, rollouts_jsonl_fpath",
    );
  });

  it("says under both names that one rollout per task has no spread", async () => {
    const cwd = await storedRun();
    const firsts = (file: string) =>
      rowsOf(path.join(cwd, file)).filter((row) => row["_ng_rollout_index"] === 0);
    for (const [from, to] of [
      ["run.jsonl", "one.jsonl"],
      ["run_materialized_inputs.jsonl", "one_materialized_inputs.jsonl"],
    ] as const)
      await writeFile(
        path.join(cwd, to),
        firsts(from)
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(""),
      );
    const newer = ["--inputs", "one_materialized_inputs.jsonl", "--rollouts", "one.jsonl"];
    const older = ["+input_jsonl_fpath=tasks.jsonl", "+rollouts_jsonl_fpath=one.jsonl"];
    for (const words of [newer, [...older, "+output_jsonl_fpath=profiled.jsonl"]])
      expect((await gym(cwd, ["eval", "profile", ...words])).stdout).toContain("Every task has one rollout");
  });

  it("keeps the older format under the older name", async () => {
    const cwd = await storedRun();
    const program = path.join(cwd, "ng_profile");
    await symlink(path.join(repository, "bin/legacy.js"), program);
    const words = ["+input_jsonl_fpath=tasks.jsonl", "+rollouts_jsonl_fpath=run.jsonl"];
    const argv = [...words, "+output_jsonl_fpath=profiled.jsonl", "+pass_threshold=1.0"];
    const { exitCode, stdout, stderr } = await runGym(argv, { cwd, program });
    expect(stderr).toContain("`ng_profile` is deprecated");
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "Tasks: 3 profiled from 6 rollouts\nProfile: profiled.jsonl\n",
    });
    const [first] = rowsOf(path.join(cwd, "profiled.jsonl"));
    expect(first).toMatchObject({
      question: "question 0",
      avg_reward: 0.5,
      min_reward: 0,
      max_reward: 1,
      total_samples: 2,
      pass_rate: 0.5,
      pass_rate_total: 2,
      pass_rate_passed: 1,
      pass_threshold: 1,
    });
    const incomplete = await runGym([...words, "+pass_threshold=1.0"], { cwd, program });
    expect(incomplete).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("missing required configuration: output_jsonl_fpath"),
    });
  });
});

describe("gym eval compare", () => {
  it("reports the differences and their significance", async () => {
    const cwd = await storedRun();
    await writeFile(
      path.join(cwd, "other.jsonl"),
      lines([rollout(0, 0, 1), rollout(0, 1, 1), rollout(1, 0, 1), rollout(2, 0, 1), rollout(3, 0, 0)]),
    );
    const { exitCode, stdout } = await gym(cwd, ["eval", "compare", "run.jsonl", "other.jsonl"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("3 common tasks, matched by index, and their prompts agree");
    expect(stdout).toContain("1 tasks only in B, left out");
    expect(stdout).toContain("Tasks: B is better on 2, worse on 0, the same on 1");
    expect(stdout).toContain("No significant difference");
    expect(stdout).toMatch(/│ 2 +│ 0\.000 │ 1\.000 │ fixed │ question 2 │/);
    const json = await gym(cwd, ["eval", "compare", "run.jsonl", "other.jsonl", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ matched_by: "index", wins: 2, only_after: [3] });
    const config = { servers: { policy_model: { type: "responses_api_models", openai_model: "gpt-x" } } };
    await writeFile(path.join(cwd, "other_manifest.json"), JSON.stringify({ config }));
    const three = await gym(cwd, ["eval", "compare", "run.jsonl", "other.jsonl", "run.jsonl"]);
    expect(three.stdout).toMatch(
      /│ run\.jsonl +│ +│ 0\.\d{4}.*\n│ other\.jsonl +│ gpt-x │.*│ 2 \/ 0 +│ 3 +│\n│ run/,
    );
    const all = await gym(cwd, ["eval", "compare", "run.jsonl", "other.jsonl", "run.jsonl", "--json"]);
    expect(JSON.parse(all.stdout).comparisons).toMatchObject([
      { wins: 2, runs: { before: { model: null }, after: { model: "gpt-x" } } },
      { wins: 0, losses: 0 },
    ]);
    const named = await gym(cwd, ["eval", "compare", "run.jsonl", "other.jsonl"]);
    expect(named.stdout).toContain("B  other.jsonl (gpt-x)");
    const absent = await gym(cwd, ["eval", "compare", "run.jsonl", "none.jsonl"]);
    expect(absent).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("none.jsonl' does not exist"),
    });
  });
});

describe("gym eval compare with a report", () => {
  const metrics = (reward: number, agent = "solver") => [
    {
      agent_ref: { name: agent },
      agent_metrics: { "mean/reward": reward },
      key_metrics: { "mean/reward": reward },
      group_level_metrics: [
        { _ng_task_index: 0, "mean/reward": 1, "min/reward": 1, "max/reward": 1 },
        { _ng_task_index: 1, "mean/reward": reward, "min/reward": reward, "max/reward": reward },
      ],
      repeat_level_metrics: [],
    },
  ];

  it("compares the aggregate metrics of several candidates, and writes both reports", async () => {
    const cwd = await project({
      "base/rollouts_aggregate_metrics.json": JSON.stringify(metrics(0)),
      "one/rollouts_aggregate_metrics.json": JSON.stringify(metrics(1)),
      "two/other.json": JSON.stringify(metrics(0)),
    });
    const compare = (...words: string[]) => gym(cwd, ["eval", "compare", ...words]);
    const runs = ["--baseline", "base/rollouts.jsonl", "--candidates", "one,two/rollouts.jsonl"];
    const missing = await compare(...runs, "-o", "report");
    expect(missing).toMatchObject({ exitCode: 1, stdout: "" });
    expect(missing.stderr).toContain(
      "The aggregate metrics two/rollouts_aggregate_metrics.json do not exist.",
    );
    expect(missing.stderr).toContain("gym eval aggregate");
    const files = ["--candidates-agg-metrics", "one/rollouts_aggregate_metrics.json,two/other.json"];
    const done = await compare(
      ...runs.slice(0, 3),
      "one/rollouts.jsonl,two/rollouts.jsonl",
      ...files,
      "-o",
      "report",
    );
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout).toContain("one: Sample flips: 1 fail→pass, 0 pass→fail over 2 common tasks");
    expect(done.stdout).toContain("two: Sample flips: 0 fail→pass, 0 pass→fail over 2 common tasks");
    expect(done.stdout).toContain("Wrote: report/compare_report.md");
    const report = JSON.parse(readFileSync(path.join(cwd, "report/compare_report.json"), "utf8"));
    expect(report).toMatchObject({
      schema_version: "1",
      command: expect.stringMatching(/^gym eval compare \+baseline_rollouts/),
      candidates: [{ label: "one" }, { label: "two" }],
    });
    const markdown = readFileSync(path.join(cwd, "report/compare_report.md"), "utf8");
    expect(markdown).toContain("| mean/reward | +1.0000 | — | 0.0000 | — | 1.0000 | — |");
  });

  it("rejects missing runs, and flags of the other form", async () => {
    const cwd = await project({});
    for (const [words, message] of [
      [[], "missing required configuration: baseline_rollouts_jsonl_fpath, candidate_rollouts_jsonl_fpaths."],
      [["a.jsonl"], "the following arguments are required: RUN_B"],
      [["a.jsonl", "b.jsonl", "-o", "x"], "--output-dir belongs to a report"],
      [["--baseline", "a", "--candidates", "b", "--show", "3"], "--show belongs to a comparison of tasks"],
      [
        ["--baseline", "a", "--candidates", "b,"],
        "argument --candidates: expected texts separated by commas",
      ],
    ] as const)
      expect(await gym(cwd, ["eval", "compare", ...words])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(message),
      });
  });
});

describe("gym eval export", () => {
  it("exports the rows that pass the filters and reports the others", async () => {
    const cwd = await storedRun();
    await writeFile(
      path.join(cwd, "run.jsonl"),
      `${readFileSync(path.join(cwd, "run.jsonl"), "utf8")}{broken\n`,
    );
    const words = ["eval", "export", "--rollouts", "run.jsonl", "--format"];
    const sft = await gym(cwd, [...words, "sft", "--reward-min", "1", "--best-of", "1"]);
    expect(sft.exitCode).toBe(0);
    expect(sft.stderr).toContain("run.jsonl:7: the line is not JSON");
    expect(sft.stdout).toContain("2 sft records from 7 rollouts: run_sft.jsonl");
    expect(sft.stdout).toContain("Filtered out: 3 outside the rewards, 1 not among the best");
    expect(rowsOf(path.join(cwd, "run_sft.jsonl"))[0]).toMatchObject({
      messages: [
        { role: "user", content: "question 0" },
        { role: "assistant", content: "yes" },
      ],
      reward: 1,
    });
    const dpo = await gym(cwd, [...words, "dpo", "--json", "--strict"]);
    expect(dpo.exitCode).toBe(1);
    expect(JSON.parse(dpo.stdout)).toMatchObject({
      format: "dpo",
      read: 7,
      written: 1,
      invalid: 1,
      tasks_without_pair: 2,
      invalid_rows: [{ line: 7 }],
    });
    for (const [format, file] of [
      ["csv", "run_csv.csv"],
      ["parquet", "run_parquet.parquet"],
      ["nemo-rl", "run_nemo_rl.jsonl"],
    ] as const) {
      expect((await gym(cwd, [...words, format])).stdout).toContain(file);
      expect(existsSync(path.join(cwd, file))).toBe(true);
    }
    const itself = await gym(cwd, [...words, "sft", "-o", "run.jsonl"]);
    expect(itself).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("a file of the run itself"),
    });
    const odd = await gym(cwd, [...words, "sft", "--reward-min", "2", "--reward-max", "1"]);
    expect(odd).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("These filters cannot be used"),
    });
  });
});

describe("gym eval aggregate", () => {
  it("asks running servers, or starts those of the config, or computes the default metrics", async () => {
    const cwd = await project({
      ...JUDGED,
      "in.jsonl": lines([0, 1, 2, 3].map((number) => ({ responses_create_params: { input: "?" }, number }))),
    });
    const port = await freePort();
    const head = `++head_server.port=${port}`;
    for (const [shard, take] of [
      ["a", "0,1"],
      ["b", "2,3"],
    ] as const) {
      const rows = rowsOf(path.join(cwd, "in.jsonl")).filter((row) => take.includes(String(row["number"])));
      await writeFile(
        path.join(cwd, `${shard}.jsonl`),
        lines(rows.map((row) => ({ ...row, _ng_task_index: row["number"] }))),
      );
      const output = ["-i", `${shard}.jsonl`, "-o", `out/${shard}.jsonl`, "--disable-aggregation"];
      const run = await gym(cwd, ["eval", "run", "--config", "judged.yaml", ...output]);
      expect(run.exitCode, run.text).toBe(0);
      expect(run.stdout).toContain("join shards with `gym eval aggregate`");
    }
    const words = ["eval", "aggregate", "-i", "out/*.jsonl", "-o", "out/all.jsonl", head];
    const metrics = () =>
      JSON.parse(readFileSync(path.join(cwd, "out/all_aggregate_metrics.json"), "utf8")) as {
        agent_metrics: Row;
      }[];

    const alone = await gym(cwd, words);
    expect(alone.exitCode, alone.text).toBe(0);
    expect(alone.stderr).toContain("out/a_failures.jsonl matches, but is not a shard: left out.");
    expect(alone.stderr).toContain("only the default metrics are computed");
    expect(alone.stdout).toContain("4 rollouts of 2 shards");
    expect(alone.stdout).toContain("Coverage: 4 of 4 rollouts scored");
    expect(metrics()[0]?.agent_metrics).toMatchObject({ "mean/reward": 1 });
    expect(metrics()[0]?.agent_metrics).not.toHaveProperty("tasks_seen");
    expect(rowsOf(path.join(cwd, "out/all.jsonl")).map((row) => row["_ng_task_index"])).toEqual([0, 1, 2, 3]);

    const started = await gym(cwd, [...words, "--config", "judged.yaml"]);
    expect(started.stderr).toContain("Metrics are computed by servers of the config (judged, judged_agent).");
    expect(metrics()[0]?.agent_metrics).toMatchObject({ tasks_seen: 4 });

    const servers = await startServers(cwd, ["--config", "judged.yaml", head]);
    await writeFile(path.join(cwd, "out/all_aggregate_metrics.json"), "");
    const asked = await gym(cwd, [...words, "--json", "+merge_shards=false"]);
    expect(asked.stderr).toContain("Metrics are computed by the servers that are running.");
    expect(JSON.parse(asked.stdout)).toMatchObject({ shards: 2, rows: 4, output: null, coverage: { ok: 4 } });
    expect(metrics()[0]?.agent_metrics).toMatchObject({ tasks_seen: 4 });
    servers.kill();
  });

  it("rejects files that it cannot join", async () => {
    const cwd = await storedRun();
    const none = await gym(cwd, ["eval", "aggregate", "-i", "q*", "-o", "all.jsonl"]);
    expect(none).toMatchObject({ exitCode: 1, stderr: "Error: No shards matched input_glob='q*'.\n" });
    await copyFile(path.join(cwd, "run.jsonl"), path.join(cwd, "run2.jsonl"));
    const twice = await gym(cwd, ["eval", "aggregate", "-i", "run.jsonl,run2.jsonl", "-o", "all.jsonl"]);
    expect(twice.exitCode).toBe(1);
    expect(twice.stderr).toMatch(/run2\.jsonl:1: rollout 0 of task 0 is also in '.*run\.jsonl'/);
    expect(existsSync(path.join(cwd, "all.jsonl"))).toBe(false);
  });

  it("never deletes rollouts in its output file", async () => {
    const cwd = await storedRun();
    const stored = readFileSync(path.join(cwd, "run.jsonl"), "utf8");
    const [first = "", ...others] = stored.split("\n");
    await writeFile(path.join(cwd, "s0.jsonl"), `${first}\n`);
    await writeFile(path.join(cwd, "s1.jsonl"), others.join("\n"));
    const shard = await gym(cwd, ["eval", "aggregate", "-i", "s[01].jsonl", "-o", "s0.jsonl"]);
    expect(shard).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is one of the shards") });
    expect(readFileSync(path.join(cwd, "s0.jsonl"), "utf8")).toBe(`${first}\n`);
    const over = await gym(cwd, ["eval", "aggregate", "-i", "s0.jsonl", "-o", "run.jsonl"]);
    expect(over.exitCode, over.text).toBe(0);
    expect(over.stderr).toContain("run.jsonl.previous'");
    expect(readFileSync(path.join(cwd, "run.jsonl.previous"), "utf8")).toBe(stored);
    const words = ["eval", "export", "--format", "sft", "--rollouts", "s1.jsonl"];
    const exported = await gym(cwd, [...words, "-o", "s0.jsonl"]);
    expect(exported).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("contains the rollouts of a run"),
    });
    expect(readFileSync(path.join(cwd, "s0.jsonl"), "utf8")).toBe(`${first}\n`);
  });
});

describe("gym eval reverify", () => {
  const rows = (cwd: string) =>
    [0, 1, 2].map((number) => ({
      responses_create_params: { input: "?" },
      worth: number / 2,
      ...(number === 1 && { needs_judge: true, judge_file: path.join(cwd, "judge.ok") }),
    }));

  async function judgedRun() {
    const cwd = await project(JUDGED);
    await writeFile(path.join(cwd, "in.jsonl"), lines(rows(cwd)));
    const words = ["--config", "judged.yaml", "-i", "in.jsonl", "-o", "run.jsonl"];
    const run = await gym(cwd, ["eval", "run", ...words], { NEMO_GYM_MAX_ROLLOUT_ATTEMPTS: "1" });
    expect(run.exitCode, run.text).toBe(0);
    expect(run.stdout).toContain("1 failed attempt, judge_failed: JudgeError: the judge is out");
    const stored = ["--inputs", "run_materialized_inputs.jsonl", "--rollouts", "run.jsonl"];
    return { cwd, stored };
  }

  it("says that rollouts are missing, or counts failures as zero, on request", async () => {
    const { cwd } = await judgedRun();
    const run = (...keys: string[]) =>
      gym(cwd, ["eval", "run", "--config", "judged.yaml", "-i", "in.jsonl", "-o", "strict.jsonl", ...keys], {
        NEMO_GYM_MAX_ROLLOUT_ATTEMPTS: "1",
      });
    const strict = await run("+require_complete=true", "+count_failure_classes_as_zero=[judge_failed]");
    expect(strict.exitCode, strict.text).toBe(1);
    expect(strict.stderr).toContain(
      "EVAL FAILED: 2/3 samples completed. Partial artifacts retained at strict.jsonl.",
    );
    expect(strict.stdout).toContain("The metrics count 1 failed and 0 missing rollouts as zero");
    expect(strict.stdout).toContain("Coverage: 2 of 3 rollouts scored");
    const metrics = JSON.parse(readFileSync(path.join(cwd, "strict_aggregate_metrics.json"), "utf8")) as {
      key_metrics: Row;
    }[];
    expect(metrics[0]?.key_metrics["mean/reward"]).toBeCloseTo(1 / 3, 10);
    const budget = await run("+dispatch_budget_s=5", "--force");
    expect(budget).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("dispatch_budget_s needs num_samples_in_parallel"),
    });
  });

  it("scores stored rollouts again, only with servers that allow it", async () => {
    const { cwd, stored } = await judgedRun();
    const words = ["eval", "reverify", "--config", "judged.yaml", ...stored, "-o", "again.jsonl"];
    const again = await gym(cwd, words);
    expect(again.exitCode, again.text).toBe(0);
    expect(again.stderr).toContain("100 % verified (2 of 2)");
    expect(rowsOf(path.join(cwd, "again.jsonl")).map((row) => row["reward"])).toEqual([0, 1]);
    expect(readFileSync(path.join(cwd, "again_aggregate_metrics.json"), "utf8")).toContain('"tasks_seen": 2');
    const there = await gym(cwd, words);
    expect(there).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--resume or --overwrite") });
    expect((await gym(cwd, [...words, "--resume", "--json"])).stdout).toContain('"completed":0');

    const app = path.join(cwd, "resources_servers/judged/app.ts");
    await writeFile(app, (await readFile(app, "utf8")).replace('"stateless"', '"unsupported"'));
    const rejected = await gym(cwd, [...words.slice(0, -1), "b.jsonl"]);
    expect(rejected.exitCode).toBe(1);
    expect(rejected.stderr).toContain(
      "not declared safe for scoring stored rollouts again: judged (unsupported)",
    );
    const forced = await gym(cwd, [...words.slice(0, -1), "b.jsonl", "--force"]);
    expect(forced.exitCode, forced.text).toBe(0);
    expect(forced.stderr.match(/Not declared safe/g)).toHaveLength(2);
    expect(rowsOf(path.join(cwd, "unsafe_b.jsonl"))).toHaveLength(2);
    expect(existsSync(path.join(cwd, "b.jsonl"))).toBe(false);
  });

  it("scores rollouts again whose judge failed", async () => {
    const { cwd, stored } = await judgedRun();
    await writeFile(path.join(cwd, "judge.ok"), "");
    const words = ["eval", "reverify", "--config", "judged.yaml", ...stored, "--judge-failed-only"];
    const fresh = await gym(cwd, [...words, "-o", "whole.jsonl"]);
    expect(fresh.exitCode, fresh.text).toBe(0);
    const byTask = (file: string) =>
      Object.fromEntries(
        rowsOf(path.join(cwd, file)).map((row) => [String(row["_ng_task_index"]), row["reward"]]),
      );
    expect(byTask("whole.jsonl")).toEqual({ 0: 0, 1: 0.5, 2: 1 });
    const appended = await gym(cwd, [...words, "-o", "run.jsonl", "--append"]);
    expect(appended.exitCode, appended.text).toBe(0);
    expect(byTask("run.jsonl")).toEqual({ 0: 0, 1: 0.5, 2: 1 });
  });

  it("scores ATIF trajectories that a run exported", async () => {
    const cwd = await project(JUDGED);
    await writeFile(path.join(cwd, "in.jsonl"), lines(rows(cwd).filter((row) => !("needs_judge" in row))));
    const observed = [
      "++observability_enabled=true",
      `++model_call_capture_dir=${path.join(cwd, "captures")}`,
    ];
    const run = await gym(cwd, [
      ...["eval", "run", "--config", "judged.yaml", "-i", "in.jsonl", "-o", "run.jsonl"],
      ...observed,
    ]);
    expect(run.exitCode, run.text).toBe(0);
    const target = ["--output-dir", "atif", "--session-id", "s", "--agent-version", "1"];
    const exported = await gym(cwd, ["eval", "export", "-f", "atif", "--rollouts", "run.jsonl", ...target]);
    expect(exported.exitCode, exported.text).toBe(0);
    const words = [
      "eval",
      "reverify",
      "--config",
      "judged.yaml",
      "--inputs",
      "run_materialized_inputs.jsonl",
    ];
    const atif = [...words, "--input-format", "atif", "--atif-manifest", "atif/manifest.jsonl"];
    const again = await gym(cwd, [...atif, "-o", "again.jsonl"]);
    expect(again.exitCode, again.text).toBe(0);
    const answer = (row: Row) => {
      const { output } = row["response"] as { output: { content: { text: string }[] }[] };
      return output[0]?.content[0]?.text;
    };
    const scored = rowsOf(path.join(cwd, "again.jsonl"));
    expect(scored.map((row) => [row["reward"], answer(row)])).toEqual([
      [0, "yes"],
      [1, "yes"],
    ]);
    expect(scored[1]?.["_ng_atif_provenance"]).toMatchObject({ trajectory_id: "s:1:0", session_id: "s" });
    expect(readFileSync(path.join(cwd, "again_manifest.json"), "utf8")).toContain("atif/manifest.jsonl");

    const refused = async (...more: string[]) => {
      const { exitCode, stderr } = await gym(cwd, [...more, "-o", "x.jsonl"]);
      return `${exitCode} ${stderr}`;
    };
    expect(await refused(...atif, "--resume")).toMatch(/^2 .*cannot be combined with --resume/s);
    expect(await refused(...atif, "--rollouts", "run.jsonl")).toMatch(/^2 .*combined with --rollouts/s);
    expect(await refused(...words, "--input-format", "atif")).toMatch(/^2 .*\(--atif-manifest\)/s);
    expect(await refused(...words, "--rollouts", "run.jsonl", "--atif-manifest", "a")).toMatch(
      /^2 .*only allowed/s,
    );
    expect(await refused(...words)).toMatch(/^2 .*rollouts_jsonl_fpath \(--rollouts\)/s);
    await writeFile(path.join(cwd, "atif/0-0.json"), "{}");
    expect(await refused(...atif)).toMatch(/^1 .*manifest.jsonl:1: '0-0.json': has the SHA-256/s);
  });

  it("checks its arguments before it starts servers", async () => {
    const { cwd, stored } = await judgedRun();
    const reverify = (...words: string[]) =>
      gym(cwd, ["eval", "reverify", "--config", "judged.yaml", ...words]);
    expect(await reverify()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("missing required"),
    });
    expect((await reverify(...stored, "-o", "x.jsonl", "--limit", "0")).stderr).toContain(
      "limit (must be at least 1)",
    );
    expect((await reverify(...stored, "-o", "x.jsonl", "--append")).stderr).toContain("--judge-failed-only");
    expect((await reverify(...stored, "-o", "run.jsonl", "--overwrite")).stderr).toContain(
      "is one of the input files",
    );
    const foreign = rowsOf(path.join(cwd, "run.jsonl")).map((row) => ({
      ...row,
      agent_ref: { name: "who" },
    }));
    await writeFile(path.join(cwd, "run.jsonl"), lines(foreign));
    expect((await reverify(...stored, "-o", "x.jsonl")).stderr).toContain("does not have");
  });
});

describe("exporters", () => {
  it("send metrics and rollouts, and cannot fail the run", async () => {
    const wandb = await new WandbServer({ apiKey: "wb-verysecret" }).start();
    const mlflow = await new MlflowTrackingServer({ token: "ml-verysecret" }).start();
    onTestFinished(() => Promise.all([wandb.close(), mlflow.close()]).then(() => undefined));
    const cwd = await project({
      "env.yaml": [
        "wandb_project: gym",
        "wandb_name: first",
        "wandb_api_key: wb-verysecret",
        `wandb_base_url: ${wandb.url}`,
        `mlflow_tracking_uri: ${mlflow.url}`,
        "mlflow_tracking_token: ml-verysecret",
        "mlflow_experiment_name: gym",
        "mlflow_run_name: first",
        `results_dir: results`,
      ].join("\n"),
    });
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-o", "out.jsonl"]);
    expect(run.exitCode, run.text).toBe(0);
    expect(run.text).not.toContain("verysecret");
    expect(run.stderr).toContain(`Exported to Weights & Biases: ${wandb.url}/ada/gym/runs/`);
    const [sent] = wandb.runs.values();
    expect(JSON.parse(sent?.summary ?? "{}")).toMatchObject({
      [`${AGENT}/mean/reward`]: 0.8,
      [`key_metrics/${AGENT}/mean/reward`]: 0.8,
      Rollouts: { nrows: 5 },
    });
    expect(JSON.stringify([sent?.config])).not.toContain("verysecret");
    const tracked = mlflow.runs.get("run1");
    expect(tracked?.status).toBe("FINISHED");
    expect(tracked?.metrics.map(({ key }) => key)).toContain(`${AGENT}/mean/reward`);
    expect(tracked?.params.get("wandb_api_key")).toBe("****");

    await Promise.all([wandb.close(), mlflow.close()]);
    const without = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-o", "b.jsonl", "+upload_rollouts=false"]);
    expect(without.exitCode, without.text).toBe(0);
    expect(without.stderr).toMatch(/Weights & Biases: .* cannot be reached: .*wandb sync/);
    expect(without.stderr).toMatch(/MLflow: .* cannot be reached: .*not affected/);
    expect(rowsOf(path.join(cwd, "b.jsonl"))).toHaveLength(5);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 50) {
    if (waited > 30_000) throw new Error("nothing happened");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Starts `gym env start` and waits until it is ready; it is stopped with the test. */
async function startServers(cwd: string, words: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(repository, "bin/gym.js"), "env", "start", ...words], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  await until(() => text.includes("Press Ctrl-C to stop."));
  return child;
}
