import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readVerdict } from "./read-verdict.ts";

function judgedBy(...replies: (string | object)[]) {
  return createJudgedServer(definition, import.meta.url, replies);
}

const row = { prompt: "Shout.", reference_response: "HELLO", rubric: [{ id: "C1", criteria: "Capitals?" }] };

describe("readVerdict", () => {
  it.each([
    ['```json\n{"result": "PASS"}\n``` {"result": "FAIL"}', "PASS"],
    ['I say {"result": " fail "} and {"result": "Fail"}', "FAIL"],
    ["a\nFAIL\nb", "FAIL"],
    ["PASS\n1\n2\n3\n4\n5", undefined],
    ["", undefined],
  ])("%j is %s", (text, verdict) => {
    expect(readVerdict(text)?.verdict).toBe(verdict);
  });
});

describe("inverse_if", () => {
  it("asks about every criterion, with the prompts of the row if it has some", async () => {
    const { server, calls, prompts } = await judgedBy('{"result": "PASS", "explanation": "yes"}');
    const own = { ...row, judge_system_prompt: "Own system", judge_prompt_template: "Own {criteria}" };
    const { body } = await server.verify(verifyBody(own, messageItem("HEY")));
    expect(body).toMatchObject({ reward: 1, generated_response: "HEY", num_passed: 1 });
    expect(body).not.toHaveProperty("judge_prompt_template");
    expect(prompts).toEqual(["Own Capitals?"]);
    expect(calls[0]?.body["input"]).toContainEqual({ role: "system", content: "Own system" });
  });

  it("counts a reply without a verdict as FAIL, and as unreadable", async () => {
    const { server } = await judgedBy("hard to say");
    const { body } = await server.verify(verifyBody(row, messageItem("HEY")));
    expect(body).toMatchObject({ reward: 0, _ng_judge: { calls: 1, unreadable: 1 } });
  });

  it.each([
    ["no answer", []],
    ["a 429", [{ status: 429, body: "slow down" }]],
    ["an explanation that is not a text", ['{"result": "PASS", "explanation": 5}']],
  ])("fails the rollout on %s", async (_name, replies) => {
    const { server } = await judgedBy(...replies);
    const { body } = await server.verify(verifyBody(row, messageItem("HEY")));
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it.each([
    [{ ...row, rubric: [] }, "at least one item with criteria"],
    [{ ...row, judge_prompt_template: "{zzz}" }, "zzz"],
  ])("refuses the task %j before the first model call", async (task, message) => {
    const { server } = await judgedBy();
    const rows = [{ ...task, responses_create_params: { input: "Shout." } }];
    expect((await server.post("/check_rows", { rows })).text).toContain(message);
  });
});
