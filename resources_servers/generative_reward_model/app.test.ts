import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readPrediction } from "./prediction.ts";

const scores = (score_1: number, score_2: number, ranking: number) => ({ score_1, score_2, ranking });
const answer = (overall: object, ...rubrics: object[]) =>
  JSON.stringify({
    rubric_evaluations: rubrics.length > 0 ? rubrics : [{ rubric_id: 1, ...scores(4, 3, 2) }],
    overall,
  });

describe("readPrediction", () => {
  it.each([
    ["two objects", `{"a": 1} ${answer(scores(4, 2, 2))}`],
    ["an odd quote", `5" screen ${answer(scores(4, 2, 2))}`],
    ["no rubrics", '{"overall": {"score_1": 4, "score_2": 2, "ranking": 2}, "rubric_evaluations": []}'],
    ["a score that is not a number", answer({ score_1: null, score_2: 1, ranking: 1 })],
    ["a rubric without an id", answer(scores(4, 2, 2), scores(1, 1, 1))],
  ])("refuses %s", (_name, text) => {
    expect(readPrediction(text)).toBeNull();
  });

  it.each([
    ["a fence", `\`\`\`json\n${answer(scores(4, 2, 2))}\n\`\`\``],
    ["a block that is not JSON", `{not json} ${answer(scores(4, 2, 2))}`],
    ["LaTeX", answer({ ...scores(4, 2, 2), note: "X" }).replace("X", "\\Delta")],
    ["texts", answer({ score_1: "4", score_2: " 2 ", ranking: "2" })],
  ])("accepts %s", (_name, text) => {
    expect(readPrediction(text)?.overall).toEqual(scores(4, 2, 2));
  });
});

describe("generative_reward_model", () => {
  const verify = async (row: object, text: string, config = {}) => {
    const server = await createTestServer(definition, { config });
    return server.verify(verifyBody({ id: 1, ...row }, messageItem(text)));
  };

  it("rewards by the distance from the gold scores", async () => {
    const row = {
      ground_truth_overall: scores(5, 1, 4),
      ground_truth_rubric_scores: [{ rubric_id: 1, ranking: 4 }],
    };
    const { body } = await verify(row, answer(scores(4, 2, 2)));
    expect(body).toMatchObject({
      reward: -8,
      overall_ranking_l1: 2,
      rubric_score_l1: null,
      rubric_ranking_l1: 2,
      overall_ranking_binary_acc: 0,
    });
    expect(body).not.toHaveProperty("id");
  });

  it.each([
    ["nothing", {}],
    [answer(scores(4, 2, 2)), { ground_truth_rubric_scores: [{ rubric_id: 2 }] }],
    [answer({ ...scores(4, 2, 2), score_1: "inf" }), { ground_truth_overall: { score_1: 1 } }],
  ])("punishes %j with %j", async (text, row) => {
    const { body } = await verify(row, text, { parse_failure_penalty: -7 });
    expect(body.reward).toBe(-7);
  });

  it("refuses gold scores that are no numbers", async () => {
    expect((await verify({ ground_truth_overall: { score_1: "4" } }, "")).status).toBe(422);
  });
});
