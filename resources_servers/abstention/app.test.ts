import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = { question: "Capital of Peru?", answer: "Lima" };

async function verify(replies: (string | object)[], answer: string, config = {}) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  return { body: (await server.verify(verifyBody(row, messageItem(answer)))).body, prompts };
}

describe("abstention", () => {
  it.each([
    ["A", 1, "correct"],
    ["so:\nB", 0, "incorrect"],
    ["<think>A</think>C", 0.5, "abstain"],
    ["no idea", 0, "incorrect"],
  ])("the judge's %j earns %d", async (reply, reward, verdict) => {
    const { body, prompts } = await verify([reply], "<think>x</think>It is \\boxed{Lima}");
    expect(body).toMatchObject({ ...row, reward, verdict, extracted_answer: "Lima" });
    for (const part of ["Capital of Peru?", "Lima"]) expect(prompts[0]).toContain(part);
  });

  it.each(["[IDK]", "\\boxed{The idk.}"])("%s abstains without a judge", async (answer) => {
    const { body } = await verify([], answer, { abstention_reward: 0.2 });
    expect(body).toMatchObject({ reward: 0.2, verdict: "abstain", judge_output: null });
  });

  it.each([
    ["no answer", []],
    ["a 429", [{ status: 429, body: "slow down" }]],
    ["an empty reply", ["<think>A</think>"]],
  ])("fails the rollout on %s", async (_name, replies) => {
    const { body } = await verify(replies, "Lima");
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });
});
