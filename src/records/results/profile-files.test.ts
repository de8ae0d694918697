import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aggregateEntry } from "../../run/collect/run-totals.ts";
import { profileRun, profileTasks } from "./profile-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "profile-"));
});
afterEach(() => rm(directory, { recursive: true }));

const file = async (name: string, lines: string[]): Promise<string> => {
  await mkdir(join(directory, name, ".."), { recursive: true });
  await writeFile(join(directory, name), lines.map((line) => `${line}\n`).join(""));
  return join(directory, name);
};
const read = (name: string) => readFile(join(directory, name), "utf8");
const rollout = (task: number, index: number, reward: unknown) =>
  JSON.stringify({
    reward,
    response: {},
    agent_ref: { name: "a" },
    _ng_task_index: task,
    _ng_rollout_index: index,
  });

describe("profileRun", () => {
  it("writes both files next to the rollouts", async () => {
    const inputs = await file("out_materialized_inputs.jsonl", [
      '{"q":1.0,"agent_ref":{"name":"a"},"_ng_task_index":1,"_ng_rollout_index":0}',
      '{"agent_ref":{"name":"a"},"q":1.0,"_ng_task_index":1,"_ng_rollout_index":1}',
      `{"q":"${"x".repeat(40_000)}","agent_ref":{"name":"a"},"_ng_task_index":0,"_ng_rollout_index":0}`,
    ]);
    const rollouts = await file("out.jsonl", [rollout(1, 1, 1), rollout(0, 0, 0.5), rollout(1, 0, 0)]);
    const result = await profileRun({ materializedInputsPath: inputs, rolloutsPath: rollouts });
    expect(result.summary).toMatchObject({ completed_rollout_rows: 3, complete_input_rows: 2 });
    const lines = (await read("out_reward_profiling.jsonl")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line)._ng_task_index)).toEqual([0, 1]);
    expect(lines.map((line) => JSON.parse(line).pass_rate)).toEqual([0, 0.5]);
    expect(result.passed).toEqual({ total: 3, passed: 1 });
    const lenient = await profileRun({
      materializedInputsPath: inputs,
      rolloutsPath: rollouts,
      passThreshold: 0.5,
    });
    expect(lenient.passed).toEqual({ total: 3, passed: 2 });
    expect(lines[1]).toContain('"sample":{"q":1.0,"agent_ref":{"name":"a"}}');
    expect(JSON.parse(lines[0] ?? "").sample.q).toHaveLength(40_000);
    expect(JSON.parse(await read("out_agent_metrics.json"))).toMatchObject([
      { "mean/reward": 0.5, agent_ref: { name: "a" } },
    ]);
  });

  it("names file and line of an invalid row", async () => {
    const inputs = await file("in.jsonl", [
      '{"agent_ref":{"name":"a"},"_ng_task_index":0,"_ng_rollout_index":0}',
    ]);
    const rollouts = await file("out.jsonl", [rollout(0, 0, 1), rollout(0, 0, 1)]);
    await expect(profileRun({ materializedInputsPath: inputs, rolloutsPath: rollouts })).rejects.toThrow(
      /out\.jsonl:2: .* more than once/,
    );
    await file("out.jsonl", ['{"_ng_task_index":0}']);
    await expect(profileRun({ materializedInputsPath: inputs, rolloutsPath: rollouts })).rejects.toThrow(
      /out\.jsonl:1: .*lacks/,
    );
  });
});

describe("profileTasks", () => {
  it("adds reward statistics to the task rows", async () => {
    const inputPath = await file("tasks.jsonl", ['{"q":"a"}', '{"q":"b"}', '{"q":"a"}', '{"q":"c"}']);
    const rolloutsPath = await file("out.jsonl", [
      rollout(1, 0, 1),
      rollout(0, 1, 0.5),
      rollout(0, 0, 1),
      rollout(0, 2, null),
    ]);
    const outputPath = join(directory, "new", "profiled.jsonl");
    expect(await profileTasks({ inputPath, rolloutsPath, outputPath, passThreshold: 1 })).toEqual({
      tasks: 2,
      rollouts: 3,
      tasksWithoutRollouts: 1,
      rolloutsWithoutReward: 1,
    });
    const rows = (await readFile(outputPath, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows[0]).toEqual({
      q: "a",
      avg_reward: 0.75,
      std_reward: expect.closeTo(0.35355, 4),
      min_reward: 0.5,
      max_reward: 1,
      total_samples: 2,
      pass_rate: 0.5,
      pass_rate_total: 2,
      pass_rate_passed: 1,
      pass_threshold: 1,
    });
    await profileTasks({ inputPath, rolloutsPath, outputPath });
    expect(JSON.parse((await readFile(outputPath, "utf8")).split("\n")[1] ?? "")).toEqual({
      q: "b",
      avg_reward: 1,
      std_reward: 0,
      min_reward: 1,
      max_reward: 1,
      total_samples: 1,
    });
  });

  it("rejects rollouts of other tasks", async () => {
    const inputPath = await file("tasks.jsonl", ['{"q":"a"}']);
    const rolloutsPath = await file("out.jsonl", [rollout(3, 0, 1)]);
    await expect(profileTasks({ inputPath, rolloutsPath, outputPath: join(directory, "o") })).rejects.toThrow(
      /such as task 3/,
    );
  });
});

describe("aggregateEntry", () => {
  it("keeps the usage and drops large members", () => {
    expect(
      aggregateEntry({
        reward: 1,
        response: { output: [1], usage: { input_tokens: 2 } },
        responses_create_params: {},
        ng_trajectory: {},
        x: null,
      }),
    ).toEqual({ reward: 1, x: null, response: { usage: { input_tokens: 2 } } });
    expect(aggregateEntry({ response: { usage: {} } })).toEqual({});
    expect(aggregateEntry({ response: null })).toEqual({});
  });
});
