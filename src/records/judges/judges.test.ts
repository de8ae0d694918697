import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { calibrate, readCalibration, staleReasons, writeCalibration } from "./calibration.ts";
import { correctedScore, parseRequirement, unmetRequirements } from "./corrected-run.ts";
import { type JudgedRollout, readJudgedRun } from "./judged-run.ts";
import { type LabelLine, LabelWriter, labelsByRollout, readRolloutLabels } from "./labels.ts";
import { allocation, labelQueue, strataOf } from "./queue.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "judges-"));
});
afterEach(() => rm(directory, { recursive: true }));

const place = (name: string) => path.join(directory, name);
const judged = { calls: 3, judges: [{ server: "j", model: "m-1", calls: 3 }], prompt: "p", parser: "q" };

/** Ten tasks: the judge accepts seven, and its votes about the first four disagree. */
function rowsOf(more: object = {}): object[] {
  return Array.from({ length: 10 }, (_, task) => ({
    responses_create_params: { input: `question ${task}` },
    response: { model: "policy", output: [{ type: "message", content: `answer ${task}` }] },
    reward: task < 7 ? 1 : 0,
    agent_ref: { name: "solver" },
    _ng_environment_server: "essays",
    _ng_task_index: task,
    _ng_rollout_index: 0,
    _ng_judge: { ...judged, votes: [task < 4 || task === 9 ? ["A", "B", "A"] : ["A", "A", "A"]] },
    ...more,
  }));
}

async function write(name: string, rows: readonly object[]): Promise<string> {
  await writeFile(place(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return place(name);
}

async function run(rows = rowsOf()) {
  const { agents } = await readJudgedRun(await write("run.jsonl", rows), { digests: true });
  const [agent] = agents;
  if (!agent) throw new Error("no judged agent");
  return agent;
}

const labelOf = (
  rollout: JudgedRollout,
  label: LabelLine["label"],
  more: Partial<LabelLine> = {},
): LabelLine => ({
  _ng_task_index: rollout.task,
  _ng_rollout_index: rollout.rollout,
  digest: rollout.digest,
  label,
  labeller: "anna",
  by: "human",
  revision: 1,
  ...more,
});

/** People call tasks 0 to 5 right. */
const truth = ({ task }: JudgedRollout) => (task < 6 ? "right" : "wrong");

describe("a judged run", () => {
  it("has its rollouts, their votes and who judged", async () => {
    const agent = await run();
    expect(agent).toMatchObject({
      agent: "solver",
      environment: "essays",
      judges: [{ models: ["m-1"], prompt: "p", parser: "q" }],
    });
    expect(agent.rollouts.map(({ votes }) => votes)).toEqual([
      ...Array(4).fill("split"),
      ...Array(5).fill("unanimous"),
      "split",
    ]);
  });

  it("has no agent whose rollouts name no judge", async () => {
    const file = await write("run.jsonl", rowsOf({ _ng_judge: undefined }));
    expect((await readJudgedRun(file)).agents).toEqual([]);
  });

  it("leaves out what is masked or not scored, and needs rows", async () => {
    expect((await run(rowsOf({ mask_sample: true }))).rollouts).toEqual([]);
    await expect(readJudgedRun(await write("empty.jsonl", []))).rejects.toThrow("has no rollouts");
  });
});

describe("labels", () => {
  it("are appended, and survive a write that was interrupted", async () => {
    const { rollouts } = await run();
    const file = place("labels.jsonl");
    const writer = new LabelWriter(file);
    const [first, second, third] = rollouts as [JudgedRollout, JudgedRollout, JudgedRollout];
    await Promise.all([writer.append(labelOf(first, "right")), writer.append(labelOf(second, "wrong"))]);
    await appendFile(file, '{"_ng_task_index":2,"_ng_ro');
    expect(await readRolloutLabels([file])).toMatchObject({
      labels: [{ label: "right" }, { label: "wrong" }],
      torn: [`${file}:3`],
    });
    await writer.append(labelOf(third, "unclear"));
    const { labels, torn } = await readRolloutLabels([file]);
    expect([labels.map(({ label }) => label), torn]).toEqual([["right", "wrong", "unclear"], [`${file}:3`]]);
    expect((await readFile(file, "utf8")).endsWith("}\n")).toBe(true);
  });

  it("count in their last revision, and once if they are repeated", async () => {
    const [first] = (await run()).rollouts as [JudgedRollout];
    const file = await write("labels.jsonl", [
      labelOf(first, "right"),
      labelOf(first, "wrong", { revision: 2 }),
      labelOf(first, "right"),
    ]);
    expect((await readRolloutLabels([file])).labels).toMatchObject([{ label: "wrong", revision: 2 }]);
    const twice = await write("twice.jsonl", [labelOf(first, "right"), labelOf(first, "right")]);
    expect(await readRolloutLabels([twice])).toMatchObject({ labels: [{ label: "right" }], repeated: 1 });
  });

  it("are rejected where one person says two things, in one file or several", async () => {
    const [first] = (await run()).rollouts as [JudgedRollout];
    const a = await write("a.jsonl", [labelOf(first, "right")]);
    const b = await write("b.jsonl", [labelOf(first, "wrong")]);
    await expect(readRolloutLabels([a, b])).rejects.toThrow(
      /b\.jsonl:1: 'anna' labelled rollout 0 of task 0 twice: 'right' at .*a\.jsonl:1, 'wrong' here/,
    );
  });

  it.each([
    [{ label: "good" }, /labels\.jsonl:1: label:/],
    [{ labeller: " " }, /labels\.jsonl:1: labeller:/],
    [{ by: undefined }, /labels\.jsonl:1: by:/],
    [{ _ng_task_index: -1 }, /labels\.jsonl:1: _ng_task_index:/],
  ])("are rejected if they are not valid: %j", async (change, message) => {
    const [first] = (await run()).rollouts as [JudgedRollout];
    const file = await write("labels.jsonl", [{ ...labelOf(first, "right"), ...change }]);
    await expect(readRolloutLabels([file])).rejects.toThrow(message);
  });

  it("are rejected for another rollout, or another answer", async () => {
    const { rollouts } = await run();
    const [first] = rollouts as [JudgedRollout];
    const files = { labels: "l.jsonl", run: "run.jsonl" };
    expect(() => labelsByRollout([labelOf({ ...first, task: 99 }, "right")], rollouts, files)).toThrow(
      "rollout 0 of task 99, but 'run.jsonl' has no such",
    );
    expect(() => labelsByRollout([labelOf(first, "right", { digest: "x" })], rollouts, files)).toThrow(
      "has another prompt or answer",
    );
  });
});

describe("the queue", () => {
  it("begins with votes that disagree, in an order that does not tell the verdict", async () => {
    const { rollouts } = await run();
    const strata = strataOf(rollouts, 0.5, 0);
    const queue = labelQueue(strata, { sample: 10, seed: 0 });
    expect(queue.map(({ votes }) => votes)).toEqual([
      ...Array(5).fill("split"),
      ...Array(5).fill("unanimous"),
    ]);
    expect(queue.map(({ task }) => task)).not.toEqual(rollouts.map(({ task }) => task));
    expect(new Set(queue).size).toBe(10);
  });

  it("contains each smaller sample, and others for another seed", () => {
    const many = Array.from(
      { length: 400 },
      (_, task): JudgedRollout => ({
        task,
        rollout: 0,
        offset: 0,
        reward: task % 3 === 0 ? 1 : 0,
        votes: task % 4 === 0 ? "split" : "unanimous",
        digest: String(task),
      }),
    );
    const queueOf = (sample: number, seed = 0) =>
      new Set(labelQueue(strataOf(many, 0.5, seed), { sample, seed }).map(({ task }) => task));
    const [small, large] = [queueOf(40), queueOf(80)];
    expect([small.size, large.size]).toEqual([40, 80]);
    expect([...small].every((task) => large.has(task))).toBe(true);
    expect([...queueOf(40, 1)].some((task) => !small.has(task))).toBe(true);
    const strata = strataOf(many, 0.5, 0);
    const sizes = allocation(strata, 80);
    // A quarter of the rollouts has split votes, and gets half of the labels.
    expect((sizes[0] ?? 0) + (sizes[1] ?? 0)).toBe(40);
  });
});

describe("a calibration", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const options = { threshold: 0.5, now };
  const labelled = (rollouts: readonly JudgedRollout[], more: Partial<LabelLine> = {}) =>
    new Map(rollouts.map((rollout) => [`${rollout.task}:0`, [labelOf(rollout, truth(rollout), more)]]));

  it("compares the judge with people", async () => {
    const agent = await run();
    const calibration = calibrate(agent, labelled(agent.rollouts), options);
    expect(calibration).toMatchObject({
      environment: "essays",
      judge: { models: ["m-1"], prompt: "p", parser: "q" },
      labels: { rollouts: 10, labellers: ["anna"], by_models: 0 },
      confusion: {
        labelled: [
          [6, 1],
          [0, 3],
        ],
      },
      base_rate: 0.6,
      true_positive_rate: { value: 1 },
      true_negative_rate: { value: 0.75 },
      scores: { raw: 0.7, corrected: { value: 0.6 } },
    });
    expect(calibration.agreement.cohen_kappa).toBeCloseTo((0.9 - 0.54) / 0.46, 12);
    await writeCalibration(place("calibration.json"), calibration);
    expect(await readCalibration(place("calibration.json"))).toEqual(calibration);
  });

  it("does not count labels of models, and what people are tied on", async () => {
    const agent = await run();
    const byModel = labelled(agent.rollouts, { by: "model", labeller: "m" });
    expect(() => calibrate(agent, byModel, options)).toThrow("no label of a person");
    const labels = labelled(agent.rollouts);
    const [first] = agent.rollouts as [JudgedRollout];
    labels
      .get("0:0")
      ?.push(labelOf(first, "wrong", { labeller: "ben" }), labelOf(first, "wrong", { by: "model" }));
    expect(calibrate(agent, labels, options)).toMatchObject({
      labels: { rollouts: 9, labels: 11, tied: 1, by_models: 1, labellers: ["anna", "ben"] },
    });
  });

  it("needs labels of every kind of verdicts, and one judge that rows describe", async () => {
    const agent = await run();
    const split = agent.rollouts.filter(({ votes }) => votes === "split");
    expect(() => calibrate(agent, labelled(split), options)).toThrow(
      "3 that the judge accepts with equal votes; 2 that the judge rejects with equal votes",
    );
    const other = await run(
      rowsOf().map((row, at) => (at === 0 ? { ...row, _ng_judge: { ...judged, prompt: "new" } } : row)),
    );
    expect(() => calibrate(other, labelled(other.rollouts), options)).toThrow("2 prompts or parsers");
    const silent = await run(rowsOf({ _ng_judge: { ...judged, prompt: undefined } }));
    expect(() => calibrate(silent, labelled(silent.rollouts), options)).toThrow("do not say which prompt");
  });

  it("is stale for another model, prompt or parser", async () => {
    const agent = await run();
    const calibration = calibrate(agent, labelled(agent.rollouts), options);
    const judge = calibration.judge;
    expect(staleReasons(calibration, [judge])).toEqual([]);
    expect(staleReasons(calibration, [{ ...judge, models: ["m-2"] }])).toEqual([
      "the judge's model is m-2, and was m-1",
    ]);
    expect(staleReasons(calibration, [{ ...judge, prompt: "x", parser: null }])).toHaveLength(2);
  });

  it("corrects runs of the same judge, and no others", async () => {
    const agent = await run();
    const calibrations = [
      { file: "c.json", calibration: calibrate(agent, labelled(agent.rollouts), options) },
    ];
    const same = correctedScore(agent, calibrations);
    expect(same.corrected).toMatchObject({ method: "prediction-powered", value: 0.6 });
    const rewards = { ...agent, rollouts: agent.rollouts.slice(0, 8) };
    expect(correctedScore(rewards, calibrations).corrected?.method).toBe("rogan-gladen");
    const stale = correctedScore(
      { ...agent, judges: [{ models: ["m-2"], prompt: "p", parser: "q" }] },
      calibrations,
    );
    expect(stale).toMatchObject({ corrected: null, stale: [expect.stringContaining("m-2")] });
    const elsewhere = correctedScore({ ...agent, agent: "other", environment: "other" }, calibrations);
    expect(elsewhere).toMatchObject({ calibration: null, corrected: null });
    const unmet = (scores: Parameters<typeof unmetRequirements>[0], text: string) =>
      unmetRequirements(scores, parseRequirement(text), calibrations);
    expect(unmet([same], "kappa=0.6, labels=10")).toEqual([]);
    expect(unmet([same], "kappa=0.8,labels=11")).toHaveLength(2);
    expect(unmet([stale], "kappa=0")[0]).toContain("is stale");
    expect(unmet([elsewhere], "kappa=0")[0]).toContain("there is none");
    expect(unmet([], "kappa=0")[0]).toContain("names a judge");
  });

  it("is rejected if it is not one", async () => {
    await writeFile(place("calibration.json"), '{"schema_version": 1}');
    await expect(readCalibration(place("calibration.json"))).rejects.toThrow(
      "is not a calibration of a judge",
    );
    expect(await readCalibration(place("none.json"))).toBeUndefined();
    for (const text of ["kappa", "kapa=0.5", "kappa=high", ""])
      expect(() => parseRequirement(text)).toThrow("is not a requirement");
  });
});
