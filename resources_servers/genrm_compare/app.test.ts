import { createTestServer, messageItem, modelResponse, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { Config } from "./config.ts";
import { parseComparison } from "./parse.ts";
import { rewardsOf } from "./rewards.ts";

const DEFAULTS = { score_1: 3, score_2: 3, ranking: 3.5 };

describe("parseComparison", () => {
  it.each([
    ['{"score_1": 5, "score_2": 1, "ranking": 1}', { score_1: 5, score_2: 1, ranking: 1 }],
    ['{"score_1": 1} then {"score_1": "4.5"}', { ...DEFAULTS, score_1: 4.5 }],
    ['```json\n{"score_1": 1}\n``` {"score_1": 2}', { ...DEFAULTS, score_1: 1 }],
    ['{"note": "}", "overall": {"ranking": 2}}', { ...DEFAULTS, ranking: 2 }],
    ['{"score_1": null}', null],
    ['{"score_1": NaN}', null],
    ['{"other": 1}', null],
    ["five", null],
  ])("%s", (text, expected) => {
    expect(parseComparison(text, DEFAULTS)).toEqual(expected);
  });
});

describe("rewardsOf", () => {
  const config = (given: object) => Config.parse({ genrm_model_server: "genrm", ...given });
  const pair = { response_i: 0, response_j: 1, judge_idx: 0, score_1: 4, score_2: 4, ranking: 2 };
  const texts = [
    { answer: "# A long answer", reasoning: "" },
    { answer: "short", reasoning: "because" },
  ];

  it("splits equal scores by the ranking", () => {
    expect(rewardsOf([pair], texts, config({}))).toEqual([5.5, 2.5]);
  });

  it("adds a bonus to the shortest answer only if it is among the best", () => {
    expect(rewardsOf([pair], texts, config({ answer_bonus: 1 }))).toEqual([5.5, 2.5]);
    expect(rewardsOf([pair], texts, config({ answer_bonus: 1, top_percentile: 1 }))).toEqual([5.5, 3.5]);
  });

  it("prefers short answers and little markup within the group", () => {
    expect(rewardsOf([pair], texts, config({ group_answer_length_penalty_coeff: 1 }))).toEqual([5, 3]);
    expect(rewardsOf([pair], texts, config({ group_style_penalty_coeff: 1 }))).toEqual([5, 3]);
  });
});

describe("genrm_compare", () => {
  const createServer = (reply: () => unknown, config = {}) =>
    createTestServer(definition, {
      config: {
        genrm_model_server: "genrm",
        num_rollouts_per_prompt: 2,
        genrm_parse_retry_sleep_s: 0,
        ...config,
      },
      servers: { genrm: reply },
    });
  const scores = () => ({ output: [messageItem('{"score_1": 5, "score_2": 2, "ranking": 1}')] });
  const member = (index: number, text = `answer ${index}`) =>
    verifyBody({ _ng_task_index: 7, _ng_rollout_index: index }, messageItem(text));

  it("scores a cohort together and counts the calls once", async () => {
    const server = await createServer(scores, { comparison_strategy: "all_pairs" });
    const [first, second] = await Promise.all([server.verify(member(0)), server.verify(member(1))]);
    expect([first.body.reward, second.body.reward]).toEqual([5, 2]);
    expect(first.body._ng_judge).toBeUndefined();
    expect(second.body._ng_judge).toMatchObject({ calls: 1 });
  });

  it("fails every member if the reward model fails", async () => {
    const server = await createServer(() => ({ status: 400, body: "bad request" }));
    for (const { status, body } of await Promise.all([0, 1].map((index) => server.verify(member(index))))) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed", mask_sample: true });
    }
    const compared = {
      conversation_history: [],
      response_objs: [1, 2].map(() => modelResponse(messageItem("x"))),
    };
    expect((await server.post("/compare", compared)).status).toBe(503);
  });

  it("refuses a place outside of the cohort and another response for a taken place", async () => {
    const server = await createServer(scores);
    expect((await server.verify(member(2))).status).toBe(422);
    const waiting = server.verify(member(0));
    expect((await server.verify(member(0, "another"))).status).toBe(409);
    await server.verify(member(1));
    expect((await waiting).body.reward).toBe(3.5);
  });

  it("fails members of an incomplete cohort when the server stops", async () => {
    const server = await createServer(scores);
    const waiting = server.verify(member(0));
    await server.close();
    expect((await waiting).status).toBe(503);
  });

  it("gives a rollout without a cohort the default score", async () => {
    const server = await createServer(scores, { num_rollouts_per_prompt: 1, default_score: 2 });
    expect((await server.verify(member(5))).body).toMatchObject({ reward: 2, _ng_rollout_index: 5 });
  });

  it("refuses several workers and unknown strategies", async () => {
    await expect(createServer(scores, { num_workers: 2 })).rejects.toThrow("one process");
    await expect(createServer(scores, { comparison_strategy: "random" })).rejects.toThrow(
      "comparison_strategy",
    );
  });
});
