import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";
import { messageItem, verifyBody } from "../../servers/hosting/response-items.ts";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(path.join(os.tmpdir(), "judge-"));
});
afterEach(() => rm(cwd, { recursive: true }));

const gym = (line: string, stdin?: string) =>
  captureRun(line.split(" "), {
    cwd,
    env: {},
    ...(stdin !== undefined && { stdin: Readable.from([stdin]) }),
  });

const JUDGE = { calls: 1, judges: [{ server: "j", model: "m-1", calls: 1 }], prompt: "p", parser: "q" };

/** Forty judged rollouts; `judge` replaces what the rows say about their judge. */
async function writeRun(name: string, judge: object = {}): Promise<void> {
  const rows = Array.from({ length: 40 }, (_, task) => ({
    ...verifyBody({ responses_create_params: { input: `question ${task}` } }, messageItem(`answer ${task}`)),
    reward: task % 2,
    agent_ref: { name: "solver" },
    _ng_environment_server: "essays",
    _ng_task_index: task,
    _ng_rollout_index: 0,
    _ng_judge: { ...JUDGE, ...judge },
  }));
  await writeFile(path.join(cwd, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/** Labels all forty in the terminal; every fifth one as right. */
async function label(run = "run.jsonl") {
  const answers = Array.from({ length: 40 }, (_, at) => (at % 5 === 0 ? "r\n" : "w\n")).join("");
  return gym(`judge label ${run} --sample 40 --terminal --labeller anna`, answers);
}

const fileOf = async (name: string) => readFile(path.join(cwd, name), "utf8");

describe("gym judge label --terminal", () => {
  it("asks without showing the verdict, and continues where it stopped", async () => {
    await writeRun("run.jsonl");
    const first = await gym(
      "judge label run.jsonl --sample 40 --terminal --labeller anna",
      "r\nmaybe\nw\nq\n",
    );
    expect(first.exitCode).toBe(0);
    expect(first.stdout).toMatch(/question \d+[\s\S]*answer \d+/);
    expect(first.stdout).not.toMatch(/reward|m-1|dummy/);
    expect(first.stdout).toContain("'maybe' is not a label.");
    expect(first.stdout).toContain("2 of 40 rollouts labelled in run_labels.jsonl");
    const second = await gym("judge label run.jsonl --sample 40 --terminal --labeller anna", "u\n");
    expect(second.stdout).toContain("Rollout 3 of 40");
    expect(
      (await fileOf("run_labels.jsonl"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).label),
    ).toEqual(["right", "wrong", "unclear"]);
  });

  it.each([
    ["run.jsonl", { judges: [] }, /none|judge/i],
    ["none.jsonl", {}, /not found: 'none\.jsonl'/],
  ])("rejects %s", async (run, judge, message) => {
    await writeRun("run.jsonl", judge);
    if (run === "run.jsonl") {
      const rows = (await fileOf(run)).replaceAll('"_ng_judge"', '"other"');
      await writeFile(path.join(cwd, run), rows);
    }
    const { exitCode, stderr } = await gym(`judge label ${run} --terminal`, "");
    expect([exitCode > 0, stderr]).toEqual([true, expect.stringMatching(message)]);
  });

  it("rejects labels of another run before anybody adds some", async () => {
    await writeRun("run.jsonl");
    await label();
    await writeFile(
      path.join(cwd, "run.jsonl"),
      (await fileOf("run.jsonl")).replaceAll("answer ", "other answer "),
    );
    const { exitCode, stderr } = await gym("judge label run.jsonl --terminal", "r\n");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("has another prompt or answer")]);
    expect((await fileOf("run_labels.jsonl")).trim().split("\n")).toHaveLength(40);
  });
});

describe("gym judge calibrate", () => {
  it("writes a calibration, which corrects comparisons until the judge changes", async () => {
    await writeRun("run.jsonl");
    await label();
    const { exitCode, stdout } = await gym("judge calibrate run.jsonl");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Judge of essays: m-1");
    expect(stdout).toContain("score, raw            0.5000");
    expect(stdout).toContain("score, corrected      0.2000");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(JSON.parse(await fileOf("calibration.json"))).toMatchObject({
      labels: { rollouts: 40 },
      base_rate: 0.2,
    });
    await writeRun("other.jsonl");
    const same = await gym("eval compare run.jsonl other.jsonl --require-calibration labels=40");
    expect([same.exitCode, same.stderr]).toEqual([0, ""]);
    expect(same.stdout).toContain("score as people would judge  0.2000");
    const low = await gym("eval compare run.jsonl other.jsonl --require-calibration kappa=0.99");
    expect([low.exitCode, low.stderr]).toEqual([3, expect.stringContaining("less than 0.99")]);
    for (const [judge, reason] of [
      [{ judges: [{ server: "j", model: "m-2", calls: 1 }] }, "the judge's model is m-2, and was m-1"],
      [{ prompt: "new" }, "the judge's prompt or settings changed"],
      [{ parser: "new" }, "the code that reads the judge's replies changed"],
      [{ prompt: undefined }, "the judge's prompt or settings are not recorded"],
    ] as const) {
      await writeRun("other.jsonl", judge);
      const stale = await gym("eval compare run.jsonl other.jsonl --require-calibration kappa=-1");
      expect([stale.exitCode, stale.stderr]).toEqual([3, expect.stringContaining(`is stale: ${reason}`)]);
      expect(stale.stdout).toContain("no corrected score");
    }
  });

  it("requires a calibration where there is none", async () => {
    await writeRun("run.jsonl");
    const { exitCode, stderr } = await gym("eval compare run.jsonl run.jsonl --require-calibration kappa=0");
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining("there is none for the judge of 'solver'"),
    ]);
  });

  it.each([
    ["judge calibrate run.jsonl", "there are no labels in 'run_labels.jsonl'"],
    ["judge calibrate run.jsonl --labels none.jsonl", "Input file not found: 'none.jsonl' (--labels)"],
    ["judge calibrate run.jsonl --labels empty.jsonl", "there are no labels in 'empty.jsonl'"],
    ["judge calibrate empty.jsonl", "has no rollouts"],
    ["judge calibrate run.jsonl --agent solve", "Did you mean `solver`?"],
    ["eval compare run.jsonl run.jsonl --require-calibration kapa=0.6", "measures: kappa, alpha"],
    ["eval compare run.jsonl run.jsonl --calibration run.jsonl", "is not a calibration of a judge"],
  ])("explains: %s", async (line, message) => {
    await writeRun("run.jsonl");
    await writeFile(path.join(cwd, "empty.jsonl"), "");
    const { exitCode, stderr } = await gym(line);
    expect([exitCode > 0, stderr]).toEqual([true, expect.stringContaining(message)]);
  });
});
