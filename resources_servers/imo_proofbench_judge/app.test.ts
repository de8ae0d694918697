import { AnswerChecker } from "nemo-gym/math";
import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { proofbenchMetrics } from "./metrics.ts";
import { isSameAnswer } from "./same-answer.ts";

describe("isSameAnswer", () => {
  it.each([
    ["50%", "50", true],
    ["2,3", "2, 3", true],
    ["$4$", "4.", true],
    ["\\frac{1}{2}", "0.5", true],
    ["A", "(A)", true],
    ["B", "b", false],
    ["yes", "no", false],
    ["24", "25", false],
  ])("%s and %s: %s", async (expected, answer, same) => {
    const checker = new AnswerChecker();
    expect(await isSameAnswer(checker, expected, answer, new AbortController().signal)).toBe(same);
    await checker.close();
  });
});

describe("imo_proofbench_judge", () => {
  const row = { problem: "Prove x", reference_solution: "sol", rubric: "rub", expected_answer: "the proof" };
  const verify = async (answer: string, replies: readonly (string | object)[], config = {}) => {
    const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
    return { ...(await server.verify(verifyBody(row, messageItem(answer)))), calls, prompts };
  };

  it.each([
    ["<points>6 out of 7</points>", { reward: 1, judge_points: 6, any_correct: 1 }],
    ["<think>Judgement: yes</think><points>1 out of 7</points>", { reward: 0, judge_points: 1 }],
    ["Judgement: ? \\boxed{Correct} <points>0 out of 7</points>", { reward: 1, judge_points: 0 }],
    ["hm", { reward: 0, no_judge_score: 1 }],
    ["", { reward: 0, no_judge_score: 1, judge_output: "" }],
  ])("reads %j", async (reply, result) => {
    const { body, prompts } = await verify("So \\boxed{pf}.", [reply]);
    expect(body).toMatchObject({ extracted_answer: "pf", symbolic_correct: 0, ...result });
    expect(prompts[0]).toContain("pf");
  });

  it("does not ask about equal or missing answers", async () => {
    const same = await verify("\\boxed{the  proof}", []);
    expect(same.body).toMatchObject({ reward: 1, symbolic_correct: 1, judge_correct: 1 });
    const missing = await verify("<think>\\boxed{the proof}</think>", []);
    expect(missing.body).toMatchObject({ reward: 0, extracted_answer: "", no_judge_score: 0 });
  });

  it("uses Chat Completions if the config says so", async () => {
    const { body, calls } = await verify("\\boxed{pf}", ["Judgement: yes"], {
      use_chat_completions_for_judge: true,
    });
    expect(body.reward).toBe(1);
    expect(calls[0]).toMatchObject({ path: "/v1/chat/completions", body: { max_tokens: 4096 } });
  });

  it("fails the rollout if the judge fails", async () => {
    const { body } = await verify("\\boxed{pf}", []);
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});

it("splits the metrics by category and level", () => {
  const rollout = {
    any_correct: 1,
    judge_points: 7,
    category: "Algebra",
    level: "easy",
    extracted_answer: "a",
  };
  const metrics = proofbenchMetrics.compute?.([[rollout]]) ?? {};
  expect(metrics).toMatchObject({ "Algebra/pass@1/judge_score_7": 100, "easy/pass@1/any_correct": 100 });
  expect(proofbenchMetrics.key?.(metrics)).toHaveProperty("majority@1/any_correct");
});
