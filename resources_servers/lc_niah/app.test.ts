import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const words = Array.from({ length: 20 }, (_, index) => `w${index}`).join(" ");

async function verify(text: string, reasoning = "", config: Record<string, unknown> = {}) {
  const server = await createTestServer(definition, { config });
  const thought = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: reasoning }] };
  const row = { expected_answer: '["a", "b"]', id: 7 };
  return server.verify({
    ...verifyBody(row, thought, messageItem(text)),
    responses_create_params: { input: [{ role: "user", content: words }] },
  });
}

describe("lc_niah", () => {
  it.each([
    ["Final Answer: [a, b]", 1],
    ["Final Answer: ['a', \"b \"]", 1],
    ["Final Answer: [a]", 2 / 3],
    ["Final Answer: [c]", 0],
    ["a, b", 0],
  ])("scores %j with %d", async (text, score) => {
    const { body } = await verify(text);
    expect(body).toMatchObject({ id: 7, reasoning_overlap: 0 });
    expect(body.reward).toBeCloseTo(score, 15);
    expect(body["answer_score"]).toBe(body.reward);
  });

  it.each([
    ["ngram16", words, 1],
    ["ngram16", "w0 w1 w2", 0],
    ["lcs", "W3  w4 xyz", 6 / 9],
    ["seq_match", words, 1],
  ])("%s: the overlap of %j is %d", async (rule, reasoning, overlap) => {
    const { body } = await verify("Final Answer: [a, b]", reasoning, { overlap_metric_rule: rule });
    expect(body["reasoning_overlap"]).toBeCloseTo(overlap, 15);
    expect(body.reward).toBeCloseTo(1 - overlap, 15);
  });

  it.each([
    ["base", 2 / 3],
    ["multiply", 0],
    ["minus", -1 / 3],
  ])("%s: the reward is %d", async (rule, reward) => {
    const { body } = await verify("Final Answer: [a]", words, { overlap_grading_rule: rule });
    expect(body.reward).toBeCloseTo(reward, 15);
  });
});
