import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeBoardRun } from "../../../scripts/viewer/board-runs.ts";
import { readBoard } from "./read-board.ts";

async function folder(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "board-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

const good = Array.from({ length: 12 }, () => [1, 1]);
const bad = Array.from({ length: 12 }, () => [0, 0]);

describe("the board of a directory", () => {
  it("has models and environments of the manifests, and what the rollouts cost", async () => {
    const root = await folder();
    await writeBoardRun(path.join(root, "mcqa", "one"), { model: "strong", rewards: good, cost: 0.5 });
    await writeBoardRun(path.join(root, "mcqa", "two"), { model: "weak", rewards: bad });
    const board = await readBoard([root]);
    expect(board.left_out).toEqual([]);
    expect(board.environments).toMatchObject([
      {
        name: "mcqa",
        differentTasks: false,
        cells: [
          {
            model: "strong",
            run: "mcqa/one",
            cost: 12,
            rank: 1,
            rollouts: 24,
            reward: { value: 1, tasks: 12 },
          },
          { model: "weak", run: "mcqa/two", cost: null, rank: 2 },
        ],
      },
    ]);
    expect(board.tests).toMatchObject([{ significant: true, difference: { value: -1, tasks: 12 } }]);
  });

  it("leaves out unfinished runs, torn ones, other files and copies, and says why", async () => {
    const root = await folder();
    await writeBoardRun(path.join(root, "whole"), { rewards: good });
    await writeBoardRun(path.join(root, "copy"), { rewards: good });
    await writeBoardRun(path.join(root, "half"), { rewards: [[1, undefined], ...good] });
    await writeBoardRun(path.join(root, "torn"), { rewards: good, torn: '{"reward": 1, "_ng' });
    await writeFile(path.join(root, "sft.jsonl"), '{"messages": [], "reward": 1, "task_index": 0}\n');
    await writeFile(path.join(root, "whole", "pairs.jsonl"), '{"prompt": "", "chosen": ""}\n');
    await writeFile(path.join(root, "strange.jsonl"), "not a row\n");
    await mkdir(path.join(root, "empty"));
    await writeFile(path.join(root, "empty", "rollouts.jsonl"), "");
    const board = await readBoard([root]);
    const reasons = Object.fromEntries(
      board.left_out.map(({ path: file, reason }) => [path.relative(root, file), reason]),
    );
    expect(reasons).toEqual({
      "sft.jsonl": "its rows are not rollouts",
      "whole/pairs.jsonl": "its rows are not rollouts",
      "half/rollouts.jsonl": "it is unfinished: 1 of 26 rollouts are missing",
      "torn/rollouts.jsonl": "it is unfinished: line 25 is incomplete",
      "empty/rollouts.jsonl": "no rollout has a reward",
      "strange.jsonl": expect.stringContaining("strange.jsonl:1: the line is not JSON"),
      [board.environments[0]?.cells[0]?.run === "whole" ? "copy/rollouts.jsonl" : "whole/rollouts.jsonl"]:
        expect.stringContaining("it is a copy of"),
    });
    expect(board.runs).toBe(1);
  });

  it("shows one environment on request, and names all", async () => {
    const root = await folder();
    await writeBoardRun(path.join(root, "a"), { environment: "one", rewards: good });
    await writeBoardRun(path.join(root, "b"), { environment: "two", rewards: good });
    const board = await readBoard([root], { environments: ["two"] });
    expect(board.environments.map(({ name }) => name)).toEqual(["two"]);
    expect(board.all_environments).toEqual(["one", "two"]);
  });
});
