import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readScore, readVerdict } from "./verdict.ts";

const row = { question: "How far?", expected_answer: "19.6 m", rubric: "10 points for 19.6 m" };

async function verify(replies: (string | object)[], config = {}, text = "<think>a</think>19.6 m") {
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  const { body } = await server.verify(verifyBody(row, messageItem(text)));
  return { body, calls, prompts };
}

describe("readVerdict", () => {
  it.each([
    ["Judgement: NO\njudgement:yes", "YES"],
    ["Judgement: NOT at all", "NO"],
    ["Judgement: **YES**", null],
    ["", null],
  ])("reads %j as %s", (text, verdict) => {
    expect(readVerdict(text)).toBe(verdict);
  });
});

describe("readScore", () => {
  it.each([
    ["final_score[4] / max_possible_score[5]", 8],
    ["Score: 2\nFinal score: 9", 9],
    ["Score = 7.5", 7.5],
    ["score 3 out of 5\nThat is all.", 6],
    ["max score 10/10 final score: 2", 10],
    ["score 5/0", null],
    ["Total 9/10", null],
  ])("reads %j as %s", (text, score) => {
    expect(readScore(text, 10)).toBe(score);
  });
});

describe("frontierscience_judge", () => {
  it.each([
    ["Judgement: YES", 1, "YES"],
    ["Judgement: NO", 0, "NO"],
    ["Well", 0, null],
    ["", 0, null],
  ])("scores %j with %d", async (reply, reward, verdict) => {
    const { body, prompts } = await verify([reply]);
    expect(body).toMatchObject({ reward, verdict, extracted_answer: "19.6 m", rubric_score: null });
    expect(prompts[0]).toContain("\n19.6 m\n");
  });

  it.each([
    ["Final score: 7/10", 1, { rubric_score: 7, verdict: "YES", invalid_judge_response: false }],
    ["Final score: 6.5/10\nJudgement: YES", 0, { rubric_score: 6.5, verdict: "YES" }],
    ["Judgement: YES", 1, { rubric_score: null, invalid_judge_response: true }],
    ["Well", 0, { rubric_score: null, verdict: null, invalid_judge_response: true }],
  ])("gives points for a rubric: %j earns %d", async (reply, reward, expected) => {
    const config = { judge_mode: "research", judge_prompt_path: "prompts/research.yaml" };
    const { body, prompts } = await verify([reply], config);
    expect(body).toMatchObject({ reward, ...expected });
    expect(prompts[0]).toContain(row.rubric);
  });

  it("asks a chat judge with the parameters of its mode", async () => {
    const chat = { use_chat_completions_for_judge: true };
    const olympiad = await verify(["Judgement: YES"], chat);
    expect(olympiad.calls[0]).toMatchObject({
      path: "/v1/chat/completions",
      body: { max_tokens: 2048, temperature: 0, top_p: 1 },
    });
    const research = await verify(["score: 9"], { ...chat, judge_mode: "research" });
    expect(research.calls[0]?.body).not.toHaveProperty("temperature");
  });

  it("fails the rollout if the judge fails", async () => {
    const { body } = await verify([{ status: 429, body: "slow down" }]);
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});
