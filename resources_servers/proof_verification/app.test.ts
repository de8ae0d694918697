import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = { problem: "P", proof: "pf", ground_truth_judgement: "J", ground_truth_verify_score: 1 };

describe("proof_verification", () => {
  it("multiplies the accuracy of the score and the quality of the review", async () => {
    const { server, prompts } = await createJudgedServer(definition, import.meta.url, ["\\boxed{0.5}"]);
    const { body } = await server.verify(verifyBody(row, messageItem("A gap. \\boxed{0.5}")));
    expect(body.reward).toBe(0.25);
    for (const part of ["pf", "J", "A gap."]) expect(prompts[0]).toContain(part);
    expect(body).not.toHaveProperty("problem");
  });

  it.each([
    ["no score", {}],
    [`\\boxed{1}${"z".repeat(20_001)}`, {}],
    ["\\boxed{1}", { proof: "x".repeat(40_001) }],
    ["\\boxed{1}", { ground_truth_verify_score: 0.3 }],
  ])("does not ask about %.20j with %.20j", async (answer, changed) => {
    const { server, calls } = await createJudgedServer(definition, import.meta.url, ["\\boxed{1}"]);
    expect((await server.verify(verifyBody({ ...row, ...changed }, messageItem(answer)))).body.reward).toBe(
      0,
    );
    expect(calls).toEqual([]);
  });

  it("fails the rollout if the judge fails", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, [{ status: 500, body: "down" }]);
    const { body } = await server.verify(verifyBody(row, messageItem("\\boxed{1}")));
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});
