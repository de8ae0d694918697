import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { judgementMetrics } from "./metrics.ts";

describe("math_proof_judgement", () => {
  it.each([
    ["Fine.\n**Judgement**: Yes", "Yes", { reward: 1, extracted_judgement: "Yes", tp: 1 }],
    ["Judgement: ** no", "Yes", { reward: 0, extracted_judgement: "No", fn: 1 }],
    ["Judgement: Yes\nJudgement: No", "No", { reward: 0, extracted_judgement: "Yes", fp: 1 }],
    ["Judgement: No", "No", { reward: 1, tn: 1 }],
    ["Yes", "Yes", { reward: 0, extracted_judgement: null, tp: 0 }],
    ["Judgement: Yes", "?", { reward: 0, extracted_judgement: "Yes", tp: 0, fp: 0 }],
  ])("%s against %s", async (answer, gold, result) => {
    const server = await createTestServer(definition);
    const row = { expected_judgement: `Judgement: ${gold}` };
    expect((await server.verify(verifyBody(row, messageItem(answer)))).body).toMatchObject(result);
  });
});

describe("metrics", () => {
  it("counts right proofs without a judgement as missed", () => {
    const task = (gold: string, ...given: (string | null)[]) =>
      given.map((extracted_judgement) => ({
        ...{ reward: 0, tp: 0, fp: 0, fn: 0, tn: 0, extracted_judgement },
        expected_judgement: `Judgement: ${gold}`,
      }));
    const tasks = [
      task("Yes", "Yes", "No"),
      task("Yes", null, null),
      task("No", "Yes", "No"),
      task("?", "Yes", "Yes"),
    ];
    const metrics = judgementMetrics.compute?.(tasks) ?? {};
    expect(metrics).toMatchObject({
      "pass@1/precision": 50,
      "pass@1/recall": 50,
      "pass@1/f1": 50,
      total_positives: 2,
    });
    expect(metrics).toMatchObject({ "pass@2/precision": 100, "majority@2/precision": 50 });
    expect(metrics["pass@1[avg-of-2]/recall"]).toBe(25);
    expect(judgementMetrics.key?.(metrics)).toHaveProperty("majority@2/f1");
  });
});
