import { createJudgedServer, functionCallItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readRubric, readVote } from "./rubric.ts";

const vote = (score: unknown) => JSON.stringify({ score, reason: "r", extracted_evidence: "e" });
const rubric = JSON.stringify([
  { criteria: "a", modifiers: { severity: 3 } },
  { criteria: "b", modifiers: { category: "must_pass" } },
]);

async function verify(replies: readonly (string | object)[], config = {}, text = rubric) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies, {
    judge_required_successes: 1,
    judge_max_attempts: 2,
    judge_max_concurrency: 1,
    judge_retry_delay_factor: 0,
    ...config,
  });
  const call = functionCallItem("submit_final_result", { final_result: "answer {x}" });
  return { ...(await server.verify(verifyBody({ question: "q", rubric: text }, call))), prompts };
}

describe("finance_agent_v2", () => {
  it("weighs the criteria, and one that must pass decides", async () => {
    const { body, prompts } = await verify([vote(0), vote(1)]);
    expect(body).toMatchObject({ reward: 0.25, rubric_passed: 1, rubric_weight_total: 4 });
    expect(prompts[0]).toContain("answer {x}");
    expect((await verify([vote(1), vote(0)])).body).toMatchObject({
      reward: 0,
      rubric_weighted_fraction: 0.75,
    });
  });

  it("leaves a criterion open if its votes cannot be read", async () => {
    const { body } = await verify([vote(1), "no", vote(true)]);
    expect(body).toMatchObject({
      reward: 0,
      rubric_unresolved: 1,
      judge_error: "1 criteria have no verdict",
    });
  });

  it("decides by majority", async () => {
    const one = JSON.stringify([{ criteria: "a" }]);
    const config = { judge_required_successes: 3, judge_max_attempts: 3 };
    expect((await verify([vote(1), vote(0), vote(1)], config, one)).body).toMatchObject({ reward: 1 });
    expect((await verify([vote(1), vote(0), vote(0)], config, one)).body).toMatchObject({ reward: 0 });
  });

  it("fails the rollout if the judge fails in every call", async () => {
    expect((await verify([])).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it.each([
    [`why {"x": "}"} ${vote(1)} {"other": 2}`, 1],
    [vote(0), 0],
    [vote(1).replace("1", "1.0"), undefined],
    ['{"x": {"score": 1}}', undefined],
    [`${vote(1)} ${vote("1")}`, undefined],
  ])("reads the vote %s", (reply, score) => {
    expect(readVote(reply)?.score).toBe(score);
  });

  it("reads a rubric", () => {
    expect(readRubric("not JSON")).toEqual([]);
    expect(
      readRubric('[{"criteria": " "}, 1, {"criteria": " c ", "modifiers": {"severity": "-1"}}]'),
    ).toEqual([{ criteria: "c", operator: null, severity: 1, must_pass: false }]);
  });
});
