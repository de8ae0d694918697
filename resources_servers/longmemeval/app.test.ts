import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const metadata = { question_id: "q", question_type: "multi-session", question: "Who?", answer: "Bob" };

async function verify(
  replies: (string | object)[],
  { text = "Bob", row = {}, config = {} }: { text?: string; row?: object; config?: object } = {},
) {
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, {
    judge_retry_base_delay: 0,
    ...config,
  });
  const request = verifyBody({ verifier_metadata: { ...metadata, ...row } }, messageItem(text));
  const { body } = await server.verify(request);
  return { body, calls, prompts };
}
const overloaded = { status: 429, body: "slow down" };

describe("longmemeval", () => {
  it.each([
    ["Yes.", 1],
    ["no", 0],
    ["<think>yes</think>No", 0],
    ["that depends", 0],
    ["No, not yes", 0],
    ["It was yesterday.", 0],
    ["The response says yes.\nNo", 0],
    ["yes\nno", 0],
    ["**Yes**, it has no mistake.", 1],
    ["The answer is yes.", 1],
  ])("scores the verdict %s with %d", async (reply, reward) => {
    const { body, prompts } = await verify([reply]);
    expect(body).toMatchObject({ reward, judge_label: reward === 1, judge_error: null });
    for (const part of ["Who?", "\nBob\n"]) expect(prompts[0]).toContain(part);
  });

  it.each([
    ["temporal-reasoning", {}, "off by one"],
    ["knowledge-update", {}, "newest state"],
    ["single-session-preference", {}, "suits this user"],
    ["knowledge-update", { abstention: true }, "cannot be answered"],
    ["bogus", { question_id: "q_abs" }, "cannot be answered"],
  ])("judges %s %j by its rule", async (question_type, row, rule) => {
    const { prompts } = await verify(["yes"], { row: { question_type, ...row } });
    expect(prompts[0]).toContain(rule);
  });

  it.each([
    ["an empty answer", { text: "<think>Bob" }, { empty_response: true }],
    ["an unknown type", { row: { question_type: "bogus" } }, { judge_error: "unknown_question_type" }],
    ["no question", { row: { question: null } }, { judge_error: "bad_metadata" }],
  ])("asks nobody about %s", async (_name, options, expected) => {
    const { body, calls } = await verify([], options);
    expect(body).toMatchObject({ reward: 0, ...expected });
    expect(calls).toHaveLength(0);
  });

  it("asks again after a 429 and a server error, but not after a 400", async () => {
    const again = await verify([overloaded, { status: 500, body: "" }, "yes"]);
    expect(again.body).toMatchObject({ reward: 1 });
    const once = await verify([{ status: 400, body: "" }, "yes"]);
    expect(once.calls).toHaveLength(1);
    expect(once.body).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it.each([
    ["fails", [overloaded], "judge_call_failed"],
    ["answers nothing", [""], "empty_judge_output"],
  ])("fails the rollout if the judge %s, unless the config says otherwise", async (_name, replies, error) => {
    const config = { judge_max_retries: 0 };
    expect((await verify(replies, { config })).body).toMatchObject({ _ng_failure_class: "judge_failed" });
    const { body } = await verify(replies, { config: { ...config, failed_judge_scores_zero: true } });
    expect(body).toMatchObject({ reward: 0, judge_error: error });
    expect(body).not.toHaveProperty("_ng_failure_class");
  });
});
