import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareFiles } from "./compare-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "compare-"));
});
afterEach(() => rm(directory, { recursive: true }));

type Row = Record<string, unknown>;

async function run(name: string, rows: Row[], inputs?: Row[]): Promise<string> {
  const lines = (list: Row[]) => list.map((row) => `${JSON.stringify(row)}\n`).join("");
  const path = join(directory, `${name}.jsonl`);
  await writeFile(path, lines(rows));
  if (inputs) await writeFile(join(directory, `${name}_materialized_inputs.jsonl`), lines(inputs));
  return path;
}

const rollout = (task: number, index: number, reward: unknown, more: Row = {}): Row => ({
  responses_create_params: { input: `question ${task}` },
  reward,
  agent_ref: { name: "solver" },
  _ng_task_index: task,
  _ng_rollout_index: index,
  ...more,
});
const input = (task: number, index: number, question: string, more: Row = {}): Row => ({
  responses_create_params: { input: question, ...more },
  _ng_task_index: task,
  _ng_rollout_index: index,
});

describe("compareFiles", () => {
  it("pairs tasks by index when their content is the same", async () => {
    const before = await run("a", [rollout(0, 0, 0), rollout(0, 1, 0), rollout(1, 0, 1), rollout(2, 0, 1)]);
    const after = await run("b", [rollout(2, 0, 1), rollout(1, 0, 1), rollout(0, 0, 1), rollout(3, 0, 0)]);
    const result = await compareFiles(before, after);
    expect(result).toMatchObject({
      matched_by: "index",
      matched_content: "prompts",
      different_content: 0,
      common_tasks: 3,
      wins: 1,
      losses: 0,
      ties: 2,
      only_before: [],
      only_after: [3],
      flipped: [
        { before_index: 0, after_index: 0, before: 0, after: 1, prompt: "question 0", agent: "solver" },
      ],
      agents: [],
    });
    expect(result.difference.value).toBeCloseTo(1 / 3, 12);
  });

  it("pairs tasks by their inputs when the order differs, regardless of sampling", async () => {
    const before = await run(
      "a",
      [rollout(0, 0, 0), rollout(1, 0, 1)],
      [input(0, 0, "x", { temperature: 0 }), input(1, 0, "y", { temperature: 0 })],
    );
    const after = await run(
      "b",
      [rollout(0, 0, 1), rollout(1, 0, 1), rollout(2, 0, 0)],
      [input(0, 0, "y"), input(1, 0, "x"), input(2, 0, "z")],
    );
    expect(await compareFiles(before, after)).toMatchObject({
      matched_by: "content",
      matched_content: "inputs",
      common_tasks: 2,
      only_after: [2],
      flipped: [{ before_index: 0, after_index: 1, before: 0, after: 1 }],
    });
    expect(await compareFiles(before, after, { matchBy: "index" })).toMatchObject({
      matched_by: "index",
      different_content: 2,
      common_tasks: 2,
    });
  });

  it("compares tasks that share only their index on request only", async () => {
    const rows = [rollout(0, 0, 0), rollout(1, 0, 1), rollout(2, 0, 1)];
    const before = await run("a", rows, [input(0, 0, "x"), input(1, 0, "y"), input(2, 0, "z")]);
    const other = await run("b", rows, [input(0, 0, "p"), input(1, 0, "q"), input(2, 0, "r")]);
    await expect(compareFiles(before, other)).rejects.toThrow(
      /no task in common \(3 and 3 tasks.*3 have the same index, but other inputs: --match index/,
    );
    await expect(compareFiles(before, other, { matchBy: "content" })).rejects.toThrow("no task in common");
    expect(await compareFiles(before, other, { matchBy: "index" })).toMatchObject({
      common_tasks: 3,
      different_content: 3,
      kept_apart: 0,
    });
    const edited = await run("c", rows, [input(0, 0, "x"), input(1, 0, "other"), input(2, 0, "z")]);
    expect(await compareFiles(before, edited)).toMatchObject({
      matched_by: "index",
      common_tasks: 2,
      different_content: 0,
      kept_apart: 1,
      only_before: [1],
      only_after: [1],
    });
  });

  it("merges tasks of one run with the same content", async () => {
    const before = await run("a", [rollout(0, 0, 0), rollout(7, 0, 1)], [input(0, 0, "x"), input(7, 0, "x")]);
    const after = await run("b", [rollout(1, 0, 1)], [input(1, 0, "x")]);
    const result = await compareFiles(before, after);
    expect(result).toMatchObject({ matched_by: "content", common_tasks: 1, wins: 1 });
    expect(result.difference.value).toBe(0.5);
  });

  it("excludes masked rollouts and rollouts without reward, and counts them", async () => {
    const before = await run("a", [
      rollout(0, 0, 1),
      rollout(0, 1, 0, { mask_sample: true }),
      rollout(0, 2, null),
    ]);
    const after = await run("b", [rollout(0, 0, true)]);
    const result = await compareFiles(before, after);
    expect(result.runs.before).toMatchObject({ rollouts: 1, masked: 1, without_reward: 1 });
    expect(result.runs.before.coverage).toEqual({ expected: 3, ok: 2, masked: 1, failed: 0, missing: 0 });
    expect(result).toMatchObject({ ties: 1 });
  });

  it("compares each agent when both runs have several", async () => {
    const other = { agent_ref: { name: "other" } };
    const before = await run("a", [rollout(0, 0, 0), rollout(1, 0, 1, other)]);
    const after = await run("b", [rollout(0, 0, 1), rollout(1, 0, 0, other)]);
    expect((await compareFiles(before, after)).agents).toMatchObject([
      { agent: "solver", common_tasks: 1, wins: 1, losses: 0 },
      { agent: "other", common_tasks: 1, wins: 0, losses: 1 },
    ]);
  });

  it("rejects runs without a common task, and repeated rollouts", async () => {
    const before = await run("a", [rollout(0, 0, 1)]);
    const after = await run("b", [rollout(1, 0, 1)]);
    await expect(compareFiles(before, after)).rejects.toThrow(/no task in common \(1 and 1 tasks/);
    const twice = await run("c", [rollout(0, 0, 1), rollout(0, 0, 0)]);
    await expect(compareFiles(before, twice)).rejects.toThrow(
      /c\.jsonl:2: rollout 0 of task 0 .*occurs twice/,
    );
  });
});
