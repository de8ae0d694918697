import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { hallucinationMetrics } from "./metrics.ts";
import { answerJson } from "./read-answer.ts";

async function verify(text: string, row: Record<string, unknown>) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody(row, messageItem(text)));
}

describe("ragtruth", () => {
  it.each([
    ['{"hallucination list": ["a"]}', true, 1, 1, 0],
    ['{"hallucination list": ["a"]}', false, 0, 1, 0],
    ['{"hallucination list": []}', "no", 1, 0, 0],
    ['{"hallucination list": "a"}', 1, 0, 0, 0],
    ["[]", true, 0, 0, 1],
  ])("%j, %j: reward %d", async (text, is_halu, reward, pred_halu, parse_fail) => {
    const { body } = await verify(text, { is_halu, id: 5 });
    expect(body).toMatchObject({ id: 5, reward, pred_halu, parse_fail, task_type: "" });
  });

  it("reports the list as JSON, shortened", async () => {
    const { body } = await verify('{"hallucination list": ["é", 1.0]}', {});
    expect(body).toMatchObject({ is_halu: 0, extracted: '["é", 1.0]' });
    const long = await verify(JSON.stringify({ "hallucination list": ["😀".repeat(600)] }), {});
    expect(Array.from(String(long.body["extracted"]))).toHaveLength(500);
  });

  it("refuses a verdict that is neither true nor false", async () => {
    expect((await verify("{}", { is_halu: "maybe" })).status).toBe(422);
  });

  it("computes precision and recall of each task type", () => {
    const result = (task_type: string, is_halu: number, pred_halu: number) => [
      { task_type, is_halu, pred_halu, parse_fail: 0, reward: Number(is_halu === pred_halu) },
    ];
    const metrics = hallucinationMetrics.compute?.([
      result("QA", 1, 1),
      result("QA", 1, 0),
      result("QA", 0, 1),
      result("Summary", 0, 0),
    ]);
    expect(metrics).toMatchObject({
      mean_reward: 0.5,
      precision: 0.5,
      recall: 0.5,
      f1: 0.5,
      "task_type/QA/accuracy": 1 / 3,
      "task_type/Summary/f1": 0,
      "task_type/Summary/count": 1,
    });
  });
});

it.each([
  ["<THINK>x</Think> {}", "{}"],
  ["a</think>b</think>\n{}", "{}"],
  ["<think>{}", "{}"],
  ["```JSON {}```", "{}"],
  ["so ```json\n{}\n``` done", "{}"],
  ["``````{}", "``````{}"],
])("reads the answer of %j", (text, answer) => {
  expect(answerJson(text, "think")).toBe(answer);
});
