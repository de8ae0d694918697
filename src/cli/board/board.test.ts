import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeBoardRun } from "../../../scripts/viewer/board-runs.ts";
import type { Board } from "../../records/board/board.ts";
import { runCli } from "../main.ts";
import { textWidth } from "../render/text-width.ts";

const tasks = (count: number, reward: (task: number) => number[]) =>
  Array.from({ length: count }, (_, task) => reward(task));

describe("gym board", () => {
  let cwd: string;

  beforeAll(async () => {
    cwd = await mkdtemp(path.join(os.tmpdir(), "board-"));
    const run = (name: string, parts: Parameters<typeof writeBoardRun>[1]) =>
      writeBoardRun(path.join(cwd, "results", name), parts);
    const strong = tasks(20, (task) => [1, task % 5 === 0 ? 0 : 1]);
    const weak = tasks(20, (task) => [task % 4 === 0 ? 1 : 0, 0]);
    for (const environment of ["word_problems_math_with_judge", "tool_use"]) {
      const [first, second] = ["2026-01-01T10:00:00.000Z", "2026-02-01T10:00:00.000Z"];
      await run(`${environment}/1`, {
        environment,
        model: "large-model-70b",
        when: first,
        rewards: strong,
        cost: 0.02,
      });
      await run(`${environment}/2`, { environment, model: "small-model-7b", when: first, rewards: strong });
      await run(`${environment}/3`, { environment, model: "small-model-7b", when: second, rewards: weak });
    }
    await run("points", { environment: "points", model: "small-model-7b", rewards: [[40], [-3]] });
    await run("half", { environment: "tool_use", model: "new", rewards: [[1], [undefined]] });
  });
  afterAll(() => rm(cwd, { recursive: true }));

  /** In a terminal of 80 columns. */
  async function board(words: string[]) {
    const written = { stdout: "", stderr: "" };
    const stream = (name: "stdout" | "stderr") => ({
      write: (text: string) => (written[name] += text),
      isTTY: true,
      columns: 80,
    });
    const io = { cwd, env: { NO_COLOR: "1" }, stdout: stream("stdout"), stderr: stream("stderr") };
    return { code: await runCli(["board", ...words], io), ...written };
  }

  it("fits 80 columns and says what differs, what changed and what is left out", async () => {
    const { code, stdout } = await board([]);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect(textWidth(line), line).toBeLessThanOrEqual(80);
    expect(stdout).toContain("7 runs, 2 models, 3 environments");
    expect(stdout).toMatch(
      /│ +1 │ large-model-70b │ 0\.900 \[0\.804, 0\.996\] │ 100\.0 {2}│ {2}80\.0 {2}│ \$0\.80 │/,
    );
    expect(stdout).toContain("large-model-70b is better than small-model-7b by 0.775");
    expect(stdout).toContain("small-model-7b is worse by 0.775");
    expect(stdout).toContain("points (rewards from -3 to 40)");
    expect(stdout).toContain("half/rollouts.jsonl: it is unfinished: 1 of 2 rollouts are missing");
    expect(stdout).toContain("Mean over 2 environments with rewards from 0 to 1");
  });

  it("prints JSON, and fails on a regression on request", async () => {
    const { code, stdout, stderr } = await board(["results", "--json", "--fail-on-regression"]);
    const { tests, left_out } = JSON.parse(stdout) as Board;
    expect([code, tests.length, left_out.length]).toEqual([3, 4, 1]);
    expect(stderr).toContain("2 regressions since the run before.");
  });

  it("shows the trend of one environment, and names the others", async () => {
    const { stdout } = await board(["--environment", "tool_use"]);
    expect(stdout).toContain("Runs over time");
    expect(stdout).toMatch(/2026-02-01 │ small-model-7b +│ 0\.125/);
    expect(stdout).not.toContain("word_problems");
    const unknown = await board(["--environment", "tool_usage"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean `tool_use`?")]);
  });

  it("rejects paths without runs", async () => {
    const missing = await board(["resluts"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("Did you mean 'results'?")]);
  });
});
