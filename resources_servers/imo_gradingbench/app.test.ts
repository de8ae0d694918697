import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { gradingMetrics } from "./metrics.ts";

describe("imo_gradingbench", () => {
  it.each([
    [
      "Grade: **Correct**.",
      "correct",
      { reward: 1, extracted_grade: "correct", binary_match: true, score_diff: 0 },
    ],
    ["almost", "correct", { reward: 0, extracted_grade: "almost", binary_match: true, score_diff: 1 }],
    ["correct, or rather incorrect", "correct", { reward: 0, binary_match: false, score_diff: 7 }],
    ["It is correct indeed", "correct", { reward: 0, extracted_grade: null, score_diff: null }],
    ["correct", "perfect", { reward: 0, binary_match: false, score_diff: null }],
  ])("%s against %s", async (answer, expected_answer, result) => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody({ expected_answer }, messageItem(answer)))).body).toMatchObject(
      result,
    );
  });
});

describe("metrics", () => {
  it("averages the error over the rollouts with a grade", () => {
    const rollout = (score_diff: number | null) => ({
      reward: 0,
      binary_match: false,
      score_diff,
      extracted_grade: null,
    });
    const metrics =
      gradingMetrics.compute?.([
        [rollout(7), rollout(1)],
        [rollout(null), rollout(null)],
      ]) ?? {};
    expect(metrics).toMatchObject({
      "pass@1[avg-of-2]/mae": 4,
      "pass@2/mae": 1,
      "pass@2/mae_count": 1,
      mae: 4,
      mae_count: 2,
    });
    expect(gradingMetrics.key?.(metrics)).toMatchObject({ mae: 4, "pass@2/mae": 1 });
  });
});
