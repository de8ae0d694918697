import { createJudgedServer, createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const turn = (keystrokes: string, more = {}) =>
  JSON.stringify({ analysis: "a", plan: "p", commands: [{ keystrokes }], ...more });
const row = { uuid: "u", metadata: { harness: "terminus_2" }, expected_answer: turn("ls -la\n") };

async function verify(
  answer: string,
  replies: readonly (string | object)[] = [],
  config = {},
  given: Record<string, unknown> = row,
) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  return { ...(await server.verify(verifyBody(given, messageItem(answer)))).body, prompts };
}

describe("terminus_judge", () => {
  it.each([
    ["not JSON", "ls", "model_output_invalid"],
    ["a list", "[1]", "model_output_invalid"],
    ["another key", turn("ls -la\n", { note: "x" }), "schema_check_failed"],
    ["a flag as text", turn("ls -la\n", { task_complete: "yes" }), "schema_check_failed"],
  ])("gives 0 for %s without a judge", async (_, answer, failure_reason) => {
    expect(await verify(answer)).toMatchObject({ reward: 0, failure_reason, prompts: [] });
  });

  it("asks the judge about keystrokes that are not similar", async () => {
    const similarity = { enable_string_similarity: true };
    const same = await verify(`<think>${turn("rm")}</think> ${turn("ls -la\n")}`, [], similarity);
    expect(same).toMatchObject({ reward: 1, similarity_score: 1, judge_passed: null });
    const other = await verify(turn("dir\n"), ["Both list. [[A=B]]"], similarity);
    expect(other).toMatchObject({ reward: 1, string_similarity_passed: false, judge_passed: true });
    expect(other.prompts[0]).toContain("dir");
  });

  it("prefers the label at the end of the reply", async () => {
    const long = "x".repeat(300);
    expect((await verify(turn("dir\n"), [`[[A=B]] ${long} [[A!=B]]`])).reward).toBe(0);
    expect((await verify(turn("dir\n"), [`[[A=B]] ${long}`])).reward).toBe(1);
    expect(await verify(turn("dir\n"), ["equal"])).toMatchObject({
      reward: 0,
      failure_reason: "judge_parsing_failed",
    });
  });

  it("asks in both orders if the config says so", async () => {
    const swap = { check_twice_swap: true, reward_if_swap_fails: 0.25 };
    expect((await verify(turn("dir\n"), ["[[A=B]]", "[[A=B]]"], swap)).reward).toBe(1);
    expect((await verify(turn("dir\n"), ["[[A=B]]", "[[A!=B]]"], swap)).reward).toBe(0.25);
    expect((await verify(turn("dir\n"), ["[[A!=B]]"], swap)).reward).toBe(0);
  });

  it("requires the end of the task where the expert declares it", async () => {
    const done = { ...row, expected_answer: turn("", { task_complete: true }) };
    expect(await verify(turn(""), [], {}, done)).toMatchObject({
      failure_reason: "task_complete_check_failed",
    });
  });

  it("fails the rollout if the judge fails", async () => {
    expect(await verify(turn("dir\n"))).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("needs no judge server for similarity alone", async () => {
    const config = { enable_string_similarity: true, enable_llm_judge: false };
    const server = await createTestServer(definition, { config });
    const { body } = await server.verify(verifyBody(row, messageItem(turn("dir\n"))));
    expect(body).toMatchObject({ reward: 0, failure_reason: "string_similarity_below_threshold" });
    await server.close();
    await expect(createTestServer(definition, { config: {} })).rejects.toThrow("judge_model_server");
  });
});
