import { describe, expect, it } from "vitest";
import { seededNumbers } from "../metrics/seeded-random.ts";
import { type BoardRun, boardOf } from "./board.ts";
import { commonMeans } from "./common-tasks.ts";

let count = 0;

function run(parts: Partial<BoardRun> & { rewards: number[][] }): BoardRun {
  const { rewards, ...own } = parts;
  const tasks = rewards.map((one, index) => ({ index, content: `task ${index}`, rewards: one }));
  const id = `run-${count++}`;
  const when = "2026-01-01T00:00:00.000Z";
  return { id, path: id, environment: "e", model: "a", when, coverage: null, cost: null, tasks, ...own };
}

/** Rewards of 0 and 1 with this chance of success. */
function answers(chance: number, random: () => number, tasks = 30, repeats = 2): number[][] {
  return Array.from({ length: tasks }, () =>
    Array.from({ length: repeats }, () => (random() < chance ? 1 : 0)),
  );
}

describe("a board", () => {
  const random = seededNumbers(1);
  const [weak, strong] = [answers(0.3, random), answers(0.9, random)];

  it("ranks models by significant differences only", () => {
    const equal = strong.map((rewards, task) => (task === 0 ? [0, 1] : rewards));
    const board = boardOf([
      run({ model: "weak", rewards: weak }),
      run({ model: "strong", rewards: strong }),
      run({ model: "equal", rewards: equal }),
    ]);
    const [environment] = board.environments;
    expect(environment?.cells.map(({ model, rank }) => [model, rank]).sort()).toEqual([
      ["equal", 1],
      ["strong", 1],
      ["weak", 3],
    ]);
    expect(board.tests).toHaveLength(3);
    const [first] = environment?.cells ?? [];
    expect(first?.pass.map(({ k }) => k)).toEqual([1, 2]);
  });

  it("shows the newest run of a model, its trend, and a regression", () => {
    const runs = [
      run({ rewards: weak, when: "2026-03-01T00:00:00.000Z", id: "new" }),
      run({ rewards: strong, when: "2026-02-01T00:00:00.000Z", id: "before" }),
      run({ rewards: weak, when: "2026-01-01T00:00:00.000Z", id: "old" }),
    ];
    const board = boardOf(runs);
    const [environment] = board.environments;
    expect(environment?.cells).toMatchObject([{ run: "new", runs: 3 }]);
    expect(environment?.trends[0]?.points.map((point) => point.run)).toEqual(["old", "before", "new"]);
    expect(board.tests).toMatchObject([
      { kind: "change", before: { run: "before" }, after: { run: "new" }, significant: true },
    ]);
    expect(board.tests[0]?.difference.value).toBeLessThan(0);
  });

  it("averages only environments with rewards from 0 to 1 that all models have", () => {
    const scaled = strong.map((rewards) => rewards.map((reward) => reward * 100));
    const environments = (model: string, rewards: number[][]) => [
      run({ model, environment: "one", rewards }),
      run({ model, environment: "two", rewards }),
      run({ model, environment: "points", rewards: scaled }),
    ];
    const board = boardOf([
      ...environments("a", weak),
      ...environments("b", strong),
      run({ model: "a", environment: "three", rewards: weak }),
    ]);
    expect(board.overall?.environments).toEqual(["one", "two"]);
    expect(board.overall?.models.map(({ model }) => model)).toEqual(["b", "a"]);
    expect(boardOf(environments("a", weak).slice(1)).overall).toBeNull();
    // Success in an environment of another range is not a reward of 1.
    expect(board.environments.find(({ name }) => name === "points")?.cells[0]?.pass).toEqual([]);
  });

  it("keeps runs of one environment apart whose rewards are on different scales", () => {
    const scaled = strong.map((rewards) => rewards.map((reward) => reward * 100));
    const board = boardOf([run({ model: "a", rewards: strong }), run({ model: "b", rewards: scaled })]);
    expect(board.environments.map(({ name }) => name)).toEqual([
      "e (rewards beyond 1)",
      "e (rewards up to 1)",
    ]);
    expect(board.tests).toEqual([]);
  });

  it("does not test runs without two common tasks, and says that tasks differ", () => {
    const others = run({ model: "b", rewards: strong });
    const tasks = others.tasks.map((task) => ({ ...task, content: `other ${task.index}` }));
    const board = boardOf([run({ rewards: weak }), { ...others, tasks }]);
    expect(board.tests).toEqual([]);
    expect(board.environments[0]?.differentTasks).toBe(true);
  });
});

describe("common tasks", () => {
  const task = (index: number, content: string | undefined, ...rewards: number[]) => ({
    index,
    content,
    rewards,
  });

  it("are matched by content if the order differs", () => {
    const before = [task(0, "x", 0), task(1, "y", 1)];
    const after = [task(0, "y", 0.5), task(1, "x", 0.25)];
    expect(commonMeans(before, after)).toEqual([
      [0, 0.25],
      [1, 0.5],
    ]);
  });

  it("are matched by index if the content is equal everywhere or not known", () => {
    const equal = [task(0, "x", 0), task(1, "x", 1)];
    expect(commonMeans(equal, equal)).toHaveLength(2);
    const unknown = [task(0, undefined, 0), task(1, undefined, 1)];
    expect(commonMeans(unknown, unknown)).toHaveLength(2);
    expect(commonMeans([task(0, "x", 0)], [task(0, "y", 1)])).toEqual([]);
  });
});
