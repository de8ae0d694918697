import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { falseStatementMetrics } from "./metrics.ts";

const row = { question: "Every prime is odd.", original_problem: "Every prime above 2 is odd." };

async function verify(replies: readonly (string | object)[], config = {}) {
  const { server, prompts, calls } = await createJudgedServer(definition, import.meta.url, replies, config);
  const answer = messageItem("<Think>secret</thinking> It is false.");
  return { ...(await server.verify(verifyBody(row, answer))), prompts, calls };
}

describe("false_statement_judge", () => {
  it.each([
    ["<points>2</points>", 2, 1],
    ["<POINTS> 9 </points>", 2, 1],
    ["<points>1</points><points>2</points>", 1, 0.5],
    ["<think><points>0</points></think><points>2</points>", 2, 1],
    ["<think><points>1</points></think>", 1, 0.5],
    ["a</think><points>0</points></think><points>2</points>", 0, 0],
    ["<points>1.5</points>", null, 0],
    ["", null, 0],
  ])("reads %s", async (reply, judge_points, reward) => {
    const { body, prompts } = await verify([reply]);
    expect(body).toMatchObject({ ...row, judge_points, reward, judge_output: reply });
    expect(prompts[0]).toContain("It is false.");
    expect(prompts[0]).not.toContain("secret");
  });

  it("uses Chat Completions if the config says so", async () => {
    const { body, calls } = await verify(["<points>2</points>"], { use_chat_completions_for_judge: true });
    expect(body.reward).toBe(1);
    expect(calls[0]?.path).toBe("/v1/chat/completions");
  });

  it("fails the rollout if the judge fails", async () => {
    expect((await verify([])).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});

it("reports the shares of the points", () => {
  const metrics =
    falseStatementMetrics.compute?.([
      [
        { reward: 1, judge_points: 2 },
        { reward: 0, judge_points: null },
      ],
    ]) ?? {};
  expect(metrics).toMatchObject({ "pass@1[avg-of-2]/recognized_false": 50, "pass@2/no_judge_score": 100 });
  expect(falseStatementMetrics.key?.(metrics)).not.toHaveProperty("pass@2/score");
});
