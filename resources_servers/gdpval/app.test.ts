import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition from "./app.ts";
import { Config } from "./config.ts";
import { eloOf, mostLikelyElo } from "./elo.ts";
import { gdpvalMetrics } from "./metrics.ts";
import { drawMember, randomFor } from "./panel.ts";
import { pointsOf } from "./rubric.ts";
import { allTaskIds, assignReferences, selectReferences } from "./stages.ts";

const row = { task_id: "t", prompt: "Write a memo.", rubric_pretty: "It is a memo." };
let folder: string | undefined;
afterEach(async () => {
  if (folder) await rm(folder, { recursive: true });
  folder = undefined;
});

async function files(contents: Record<string, string>): Promise<string> {
  folder = await mkdtemp(path.join(tmpdir(), "gdpval-"));
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

async function verify(
  replies: (string | object)[],
  config: Record<string, unknown> = {},
  given: Record<string, unknown> = {},
) {
  const options = { judge_retry_delay_factor: 0, ...config };
  const { server, calls } = await createJudgedServer(definition, import.meta.url, replies, options);
  const { status, body } = await server.verify(verifyBody({ ...row, ...given }, messageItem("A memo.")));
  return { status, body, calls: calls.map((call) => call.body) };
}
const contentOf = (call: Record<string, unknown> | undefined) =>
  JSON.stringify((call?.["messages"] as object[] | undefined)?.at(-1));

describe("a rubric", () => {
  it.each([
    ['{"overall_score": 0.7}', 0.7, false],
    ['```json\n{"score": 3}', 1, false],
    ['{"criteria_scores": [{"score": 1}, {"score": 0}]}', 0.5, false],
    ['{"criteria_scores": [{"score": 1}, {"score": 0.5, "w', 0.75, true],
    ['{"overall_score": "high"}', 0, true],
    ["[1]", 0, true],
    ["", 0, true],
  ])("graded with %j earns %d", async (reply, reward, invalid) => {
    expect((await verify([reply])).body).toMatchObject({ reward, invalid_judge_response: invalid });
  });

  it("is asked for again while the endpoint is busy, and fails the rollout otherwise", async () => {
    const busy = { status: 429, body: "slow down" };
    expect((await verify([busy, '{"score": 1}'])).body.reward).toBe(1);
    expect((await verify([{ status: 401, body: "no" }, '{"score": 1}'])).body).toMatchObject({
      ...{ reward: 0, _ng_failure_class: "judge_failed" },
    });
  });

  it("sees the files of the deliverable", async () => {
    const deliverables_dir = await files({
      "memo.md": "Dear all",
      "pic.png": "x",
      "finish_params.json": "{}",
      "a.xlsx": "?",
    });
    const { calls } = await verify(['{"score": 1}'], {}, { deliverables_dir });
    const content = contentOf(calls[0]);
    expect(content).toContain("=== memo.md ===\\nDear all");
    expect(content).toContain("data:image/png;base64,");
    expect(content).not.toContain("finish_params");
  });

  it("is needed", async () => {
    expect((await verify([], {}, { rubric_pretty: "" })).body).toMatchObject({
      reward: 0,
      invalid_judge_response: true,
    });
  });

  it("with points takes the mean of readable trials", async () => {
    const said = (score: number, most: number) => `FINAL_SCORE[${score}] out of MAX_POSSIBLE_SCORE[${most}]`;
    const config = { rubric_scoring_mode: "structured" };
    const given = { rubric_json: [{ score: 6 }, { weight: 4 }] };
    expect((await verify([said(8, 9), said(8, 10), said(6, 10)], config, given)).body.reward).toBe(0.7);
    expect((await verify(Array<string>(6).fill("fine"), config, given)).body.judge_response.error).toBe(
      "no_valid_scores",
    );
    expect((await verify([], config, { rubric_json: "{" })).status).toBe(422);
    expect(pointsOf('{"criteria": [{"score": true}, {"score": "x"}]}')).toBe(1);
  });
});

describe("a comparison", () => {
  const setUp = async () => {
    const root = await files({
      "own/finish_params.json": "{}",
      "own/out.md": "mine",
      "ref/task_t/repeat_0/finish_params.json": "{}",
      "ref/task_t/repeat_0/out.md": "theirs",
      "ref/task_t/repeat_1/out.md": "not finished",
    });
    const reference_models = { r: { deliverables_dir: path.join(root, "ref"), elo: 1200 } };
    const config = { reward_mode: "comparison", num_comparison_trials: 2, reference_models };
    return { config, deliverables_dir: path.join(root, "own") };
  };

  it("changes the places in every second trial", async () => {
    const { config, deliverables_dir } = await setUp();
    const { body, calls } = await verify(["BOXED[B]", "BOXED[A]"], config, { deliverables_dir });
    expect(body).toMatchObject({ reward: 1, win: true, total_wins: 2, per_reference: { r: { wins: 2 } } });
    expect(contentOf(calls[0])).toMatch(/Work A.*theirs.*Work B.*mine/);
    expect(contentOf(calls[1])).toMatch(/Work A.*mine.*Work B.*theirs/);
    expect((await verify(["BOXED[B]", "?"], config, { deliverables_dir })).body).toMatchObject({
      reward: 1,
      total_ties: 1,
    });
    expect((await verify(["BOXED[A]", "BOXED[A]"], config, { deliverables_dir })).body).toMatchObject({
      reward: 0.5,
      tie: true,
    });
  });

  it("says what is missing, and fails if the judge fails", async () => {
    const { config, deliverables_dir } = await setUp();
    const error = async (given: object) =>
      (await verify([], config, { deliverables_dir, ...given })).body.judge_response?.error;
    expect(await error({ deliverables_dir: "/nowhere" })).toBe("eval_missing");
    expect(await error({ reference_ids: [] })).toBe("reference_missing");
    expect(await error({ task_id: "other" })).toBe("reference_missing");
    expect((await verify([], config, { deliverables_dir })).body._ng_failure_class).toBe("judge_failed");
  });
});

describe("the panel", () => {
  const member = (name: string, weight: number) => ({
    ...{ name, weight, model: name, server: "judge" },
    overrides: {},
    handlesAudioVideo: false,
  });

  it("is drawn by weight, the same for the same seed", () => {
    const panel = [member("a", 0), member("b", 2), member("c", -1)];
    for (const task of ["1", "2", "3"]) expect(drawMember(panel, randomFor(null, [task])).name).toBe("b");
    expect(randomFor(7, ["abc", "r", "repeat_0"]).random()).toBe(0.161796433981511);
    expect(["a", "c"]).toContain(drawMember([member("a", 0), member("c", 0)], randomFor(1, ["x"])).name);
  });

  it("has parameters of its own", async () => {
    const judge_panel = [{ name: "a", model: "m", create_params_overrides: { temperature: null, seed: 1 } }];
    const { body, calls } = await verify(['{"score": 1}'], { judge_panel });
    expect(calls[0]).toMatchObject({ model: "m", seed: 1 });
    expect(calls[0]).not.toHaveProperty("temperature");
    expect(body.judge_response.judge_name).toBe("a");
  });
});

it("chooses references for a stage", () => {
  const elos = { d: 1600, b: 1200, a: 1000, c: 1400 };
  expect(selectReferences(elos, null, 1)).toEqual(["a", "b", "c", "d"]);
  expect(selectReferences(elos, 1300, 1)).toEqual(["b"]);
  expect(selectReferences(elos, 1250, 2)).toEqual(["b", "c"]);
  const seeds = { seed: 1, stageSeed: 2, stage: 1 };
  expect(assignReferences(["t0", "t1"], ["a", "b", "c"], seeds)).toEqual({ t0: "a", t1: "c" });
  expect(assignReferences(["t0"], [], seeds)).toEqual({});
  expect(allTaskIds({ one: { task_ids: ["1", 2, "1"] }, two: {} })).toEqual(["1", "2"]);
});

it("rates models", () => {
  expect(eloOf(0.5, 1000).elo).toBe(1000);
  expect(
    mostLikelyElo([
      { elo: 1000, wins: 5, losses: 0, ties: 0 },
      { elo: 1500, wins: 0, losses: 5, ties: 0 },
    ])?.elo,
  ).toBeCloseTo(1250, 6);
  expect(mostLikelyElo([])).toBeUndefined();
  const config = Config.parse({
    judge_model_server: "j",
    reward_mode: "comparison",
    reference_deliverables_dir: "x",
  });
  const won = {
    total_wins: 3,
    total_losses: 1,
    total_ties: 0,
    stage_index: 0,
    task_id: "t",
    per_reference: { reference: { wins: 3, losses: 1, ties: 0 } },
  };
  const metrics = gdpvalMetrics(config).compute?.([[won]]) ?? {};
  expect(metrics).toMatchObject({
    "comparison/win_rate": 0.75,
    "comparison/num_stages": 1,
    "comparison/stage_0/num_tasks": 1,
  });
  expect(gdpvalMetrics(config).key?.({ ...metrics, other: 1 })).toEqual(metrics);
});
