import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { omniscienceMetrics } from "./metrics.ts";

const row = { question: "Capital of Peru?", expected_answer: "Lima" };

async function verify(replies: (string | object)[], answer: string, config = {}) {
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  return { body: (await server.verify(verifyBody(row, messageItem(answer)))).body, calls, prompts };
}

describe("omniscience", () => {
  it.each([
    ["A", 1, "correct"],
    ["so:\nB", 0, "incorrect"],
    ["<think>A</think>C", 0, "partial"],
    ["D", 0, "not_attempted"],
    ["no idea", 0, "incorrect"],
  ])("the judge's %j earns %d", async (reply, reward, verdict) => {
    const { body, prompts } = await verify([reply], "<think>x</think>Lima, I think");
    expect(body).toMatchObject({ ...row, reward, verdict, extracted_answer: "Lima, I think" });
    for (const part of ["Capital of Peru?", "Lima, I think"]) expect(prompts[0]).toContain(part);
  });

  it("counts a message whose reasoning never ends as empty", async () => {
    expect((await verify(["D"], "<think>Lima")).body.extracted_answer).toBe("");
  });

  it("uses Chat Completions if the config says so", async () => {
    const { body, calls } = await verify(["A"], "Lima", { use_chat_completions_for_judge: true });
    expect(body.reward).toBe(1);
    expect(calls[0]?.path).toBe("/v1/chat/completions");
  });

  it.each([
    ["no answer", []],
    ["a 429", [{ status: 429, body: "slow down" }]],
    ["an empty reply", ["<think>A</think>"]],
  ])("fails the rollout on %s", async (_name, replies) => {
    const { body } = await verify(replies, "Lima");
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("reports the index and the rate of hallucinations", () => {
    const tasks = ["correct", "incorrect", "not_attempted", "partial"].map((verdict) => [
      { verdict, reward: Number(verdict === "correct"), extracted_answer: verdict },
    ]);
    expect(omniscienceMetrics.compute?.(tasks)).toMatchObject({
      "pass@1/judge_correct": 25,
      "pass@1/judge_incorrect": -25,
      "pass@1/judge_omni_index": 0,
      "pass@1/judge_omni_hallucination": 100 / 3,
    });
  });
});
