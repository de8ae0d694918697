import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../files/jsonl-rows.ts";
import { type SelectOptions, selectTasks } from "./select-tasks.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-select-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function task(index: number, rewards: number[], own: { prompt?: string; agent?: string } = {}): Row {
  const { prompt = `question ${index}`, agent = "solver" } = own;
  return {
    _ng_task_index: index,
    sample: {
      responses_create_params: { input: [{ role: "user", content: prompt }] },
      number: index,
      agent_ref: { name: agent },
    },
    num_rollouts: rewards.length,
    rollout_infos: rewards.map((reward, rollout) => ({
      _ng_task_index: index,
      _ng_rollout_index: rollout,
      reward,
    })),
  };
}

async function select(rows: Row[], options: Partial<SelectOptions> = {}) {
  const profile = join(directory, "run_reward_profiling.jsonl");
  writeFileSync(profile, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const outputPath = join(directory, "next.jsonl");
  const { report, reportPath } = await selectTasks({ profilePaths: [profile], outputPath, ...options });
  expect(JSON.parse(readFileSync(reportPath, "utf8"))).toEqual(report);
  const lines = readFileSync(outputPath, "utf8").split("\n").slice(0, -1);
  const selected = lines.map((line) => JSON.parse(line) as Row);
  expect(report.selected).toBe(selected.length);
  const left = Object.values(report.left_out).reduce((sum, count) => sum + count, 0);
  expect(report.selected + left).toBe(report.read);
  return { report, selected, numbers: selected.map((row) => row["number"]) };
}

const mixed = [task(0, [0, 0]), task(1, [0, 1]), task(2, [1, 1]), task(3, [0.5, 0.5]), task(4, [0, 1, 1, 1])];

it("writes the unchanged rows of all tasks by default", async () => {
  const { selected, report } = await select(mixed);
  expect(selected).toEqual(mixed.map(({ sample }) => sample));
  expect(report.pass_rates.read).toEqual([2, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1]);
});

describe("filters", () => {
  it.each<[Partial<SelectOptions>, number[], Row]>([
    [{ passRateMin: 0.1, passRateMax: 0.9 }, [1, 4], { pass_rate: 3 }],
    [{ passRateMin: 0.5, passThreshold: 0.5 }, [1, 2, 3, 4], { pass_rate: 1 }],
    [{ deviationMin: 0.1 }, [1, 4], { deviation: 3 }],
    [{ rolloutsMin: 3 }, [4], { too_few_rollouts: 4 }],
  ])("%j", async (options, numbers, leftOut) => {
    const result = await select(mixed, options);
    expect(result.numbers).toEqual(numbers);
    expect(result.report.left_out).toMatchObject(leftOut);
  });

  it.each([
    ["none", [0, 1, 2]],
    ["prompt", [0, 1]],
    ["words", [0]],
  ] as const)("duplicates by %s", async (duplicates, numbers) => {
    const rows = ["What is 2+2?", "what is  2 + 2", "What is 2+2?"].map((prompt, index) =>
      task(index, [1], { prompt }),
    );
    expect((await select(rows, { duplicates })).numbers).toEqual(numbers);
  });
});

describe("choice", () => {
  const many = Array.from({ length: 60 }, (_, index) =>
    task(index, [0, index % 10 === 0 ? 2 : 1], { agent: index < 50 ? "large" : "small" }),
  );

  it("depends only on the seed", async () => {
    const first = await select(many, { limit: 10, seed: 1 });
    expect(first.numbers).toHaveLength(10);
    expect(first.numbers).toEqual([...first.numbers].sort((a, b) => Number(a) - Number(b)));
    expect((await select(many, { limit: 10, seed: 1 })).numbers).toEqual(first.numbers);
    expect((await select(many, { limit: 10, seed: 2 })).numbers).not.toEqual(first.numbers);
    expect(first.report.left_out.limit).toBe(50);
  });

  it("prefers tasks with the largest deviation on request", async () => {
    const { numbers } = await select(many, { limit: 6, prefer: "deviation" });
    expect(numbers).toEqual([0, 10, 20, 30, 40, 50]);
  });

  it("balances environments, and fills gaps from the others", async () => {
    const counts = async (options: Partial<SelectOptions>) => {
      const { report } = await select(many, { balance: true, ...options });
      return [report.environments["large"]?.selected, report.environments["small"]?.selected];
    };
    expect(await counts({})).toEqual([10, 10]);
    expect(await counts({ limit: 12 })).toEqual([6, 6]);
    expect(await counts({ limit: 30 })).toEqual([20, 10]);
    expect(await counts({ limit: 100 })).toEqual([50, 10]);
  });
});

it("does not count rollouts excluded in the viewer", async () => {
  const lines = [
    { _ng_task_index: 0, _ng_rollout_index: 0, exclude: true },
    { _ng_task_index: 0, _ng_rollout_index: 1, exclude: true },
    { _ng_task_index: 1, _ng_rollout_index: 0, exclude: true },
    { _ng_task_index: 2, _ng_rollout_index: 0, labels: ["odd"] },
  ];
  writeFileSync(
    join(directory, "run_annotations.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  const { numbers, report } = await select(mixed, { passRateMin: 1 });
  expect(numbers).toEqual([1, 2]);
  expect(report.left_out.excluded).toBe(1);
  expect((await select(mixed, { passRateMin: 1, includeExcluded: true })).numbers).toEqual([2]);
});

it("reads the older form of a profile, and removes its added fields", async () => {
  const row = {
    question: "q",
    avg_reward: 0.5,
    std_reward: 0.5,
    min_reward: 0,
    max_reward: 1,
    total_samples: 2,
  };
  const { selected } = await select([{ ...row, pass_rate: 0.5, pass_threshold: 1 }], { passRateMin: 0.4 });
  expect(selected).toEqual([{ question: "q" }]);
  await expect(select([row])).rejects.toThrow(
    /run_reward_profiling.jsonl:1: the profile has no pass rates; create it with `\+pass_threshold=<reward>`/,
  );
});

it("rejects invalid settings and profiles", async () => {
  await expect(select([{ question: "q" }])).rejects.toThrow(/:1: the row is not from a profile/);
  await expect(select([])).rejects.toThrow("The profiles contain no tasks.");
  await expect(select(mixed, { passRateMin: 0.9, passRateMax: 0.1 })).rejects.toThrow(
    "the lowest pass rate 0.9 is above the highest 0.1",
  );
  await expect(select(mixed, { passRateMax: 90 })).rejects.toThrow(
    "a pass rate must be between 0 and 1, not 90",
  );
});
