import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const ANSWER = "x</think>## Solution\nmy proof\n## Self Evaluation\nfine \\boxed{0.5}";
const body = (answer = ANSWER, problem = "P") => verifyBody({ problem }, messageItem(answer));
const start = (replies: readonly (string | object)[], config = {}) =>
  createJudgedServer(definition, import.meta.url, replies, config);

describe("proof_judge", () => {
  it("rewards the judge's score of the proof", async () => {
    const { server, calls, prompts } = await start(["\\boxed{0} or rather \\boxed{.5}"]);
    expect((await server.verify(body())).body.reward).toBe(0.5);
    expect(prompts[0]).toContain("my proof");
    expect(prompts[0]).not.toContain("fine");
    expect(calls[0]?.body).toMatchObject({ model: "judge", temperature: 0.6, max_output_tokens: 100_000 });
  });

  it("adds an honest self evaluation", async () => {
    const { server, prompts } = await start(["\\boxed{1}", "\\boxed{1}"], { alpha: 0.76, beta: 0.24 });
    expect((await server.verify(body())).body.reward).toBeCloseTo(0.88, 12);
    expect(prompts[1]).toContain("fine");
  });

  it.each([
    ["no headings", {}],
    ["## Self Evaluation\n\\boxed{1}\n## Solution\nx", {}],
    ["## Solution\nx\n## Self Evaluation\n\\boxed{0.3}", {}],
    [`## Solution\n${"x".repeat(40_001)}\n## Self Evaluation\n\\boxed{1}`, {}],
    ["## Solution\nx\n## Self Evaluation\n\\boxed{1}", { assert_think_end: true }],
  ])("does not ask about %.40j with %j", async (answer, config) => {
    const { server, calls } = await start(["\\boxed{1}"], config);
    expect((await server.verify(body(answer))).body.reward).toBe(0);
    expect(calls).toEqual([]);
  });

  it("fails the rollout if the judge fails", async () => {
    const { server } = await start([]);
    expect((await server.verify(body())).body).toMatchObject({
      reward: 0,
      _ng_failure_class: "judge_failed",
    });
  });
});

describe("groups", () => {
  const config = { zero_reward_incorrect_groups: true, expected_group_size: 2, beta: 0.5 };

  it("rewards nobody if every proof scores 0", async () => {
    const { server } = await start(["\\boxed{0}", "\\boxed{1}"], config);
    const replies = await Promise.all([server.verify(body()), server.verify(body("no proof"))]);
    expect(replies.map((reply) => reply.body.reward)).toEqual([0, 0]);
  });

  it("keeps the rewards if one proof scores, and does not wait for a rollout without a verdict", async () => {
    const { server } = await start(["\\boxed{1}", "\\boxed{0}"], { ...config, beta: 0 });
    const scored = await Promise.all([server.verify(body()), server.verify(body())]);
    expect(scored.map((reply) => reply.body.reward)).toEqual([1, 0]);
    const failed = await Promise.all([server.verify(body()), server.verify(body("no proof"))]);
    expect(failed[0]?.body).toMatchObject({ _ng_failure_class: "judge_failed" });
    expect(failed[1]?.body.reward).toBe(0);
  });

  it("need a size, a problem and a single process", async () => {
    await expect(start([], { zero_reward_incorrect_groups: true })).rejects.toThrow("expected_group_size");
    await expect(start([], { ...config, num_workers: 2 })).rejects.toThrow("one process");
    const { server } = await start([], { ...config, expected_group_size: 1 });
    expect((await server.verify(body("no proof", ""))).status).toBe(422);
  });
});
