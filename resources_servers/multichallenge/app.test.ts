import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

function judgedBy(replies: (string | object)[], config = {}) {
  return createJudgedServer(definition, import.meta.url, replies, { parallel_evaluation: false, ...config });
}

const row = {
  context: "[USER]: hello",
  rubric: [
    { question: "Polite?", weight: 3 },
    { question: "Rude?", pass_criteria: "no" },
  ],
};
const answer = messageItem("<think>hm</think>Good day");

describe("multichallenge", () => {
  it.each([
    ["mean", 0.5],
    ["min", 0],
    ["max", 1],
    ["all", 0],
    ["any", 1],
    ["weighted", 0.75],
  ])("combines the scores with %s to %d", async (aggregation_mode, reward) => {
    const { server, prompts } = await judgedBy(["[[YES]]", "[[YES]]"], { aggregation_mode });
    const { body } = await server.verify(verifyBody(row, answer));
    expect(body).toMatchObject({ reward, num_passed: 1, num_total: 2, generated_response: "Good day" });
    expect(body).not.toHaveProperty("rubric");
    for (const part of ["[USER]: hello", "Good day", "Polite?"]) expect(prompts[0]).toContain(part);
  });

  it("counts the last label, and a reply without a verdict as no", async () => {
    const { server } = await judgedBy(["[[YES]] no: [[NO]]", "it depends"]);
    const { body } = await server.verify(verifyBody(row, answer));
    expect(body).toMatchObject({ reward: 0.5, _ng_judge: { calls: 2, unreadable: 1 } });
  });

  it("counts a refusal of the judge in words as unreadable", async () => {
    const { server } = await judgedBy(["I cannot help with that.", "[[NO]]"]);
    const { body } = await server.verify(verifyBody(row, answer));
    expect(body).toMatchObject({ reward: 0.5, _ng_judge: { calls: 2, unreadable: 1 } });
  });

  it.each([
    ["no answer", []],
    ["a 429", [{ status: 429, body: "slow down" }]],
    ["a reply without output", [{}]],
  ])("fails the rollout on %s for one item", async (_name, second) => {
    const { server } = await judgedBy(["[[YES]]", ...second]);
    const { body } = await server.verify(verifyBody(row, answer));
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("refuses a task without questions before the first model call", async () => {
    const { server } = await judgedBy([]);
    const task = { ...row, rubric: [], responses_create_params: { input: "hello" } };
    const { text } = await server.post("/check_rows", { rows: [task] });
    expect(text).toContain("at least one item with a question");
  });
});
