import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

/** A server whose judge returns the scripted replies in order; null means that the call fails. */
async function withJudge(replies: (string | null)[], config: Record<string, unknown> = {}) {
  const prompts: string[] = [];
  const server = await createTestServer(definition, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" }, ...config },
    directory,
    servers: {
      judge: (_path, body) => {
        prompts.push((body as { input: { content: string }[] }).input.at(-1)?.content ?? "");
        const reply = replies[prompts.length - 1];
        if (typeof reply !== "string") throw new Error("connection refused");
        return { id: "r", output: [messageItem(reply)] };
      },
    },
  });
  return { server, prompts };
}

const body = (answer: string, expected = "\\frac{1}{2}") =>
  verifyBody(
    { responses_create_params: { input: [] }, question: "Q", expected_answer: expected },
    messageItem(answer),
  );

describe("math_with_judge", () => {
  it("compares first and does not ask the judge about equal answers", async () => {
    const { server, prompts } = await withJudge([]);
    const { body: result } = await server.verify(body("It is $\\boxed{0.5}$."));
    expect(result).toMatchObject({
      reward: 1,
      library_reward: 1,
      extracted_answer: "1/2",
      judge_evaluations: null,
    });
    expect(prompts).toEqual([]);
  });

  it("takes numbers as expected answers", async () => {
    const { server } = await withJudge([], { should_use_judge: false });
    const row = { responses_create_params: { input: [] }, question: "Q", expected_answer: 7.5 };
    const reward = async (answer: string) =>
      (await server.verify(verifyBody(row, messageItem(answer)))).body.reward;
    expect([await reward("\\boxed{15/2}"), await reward("\\boxed{7}")]).toEqual([1, 0]);
  });

  it("asks in both orders and requires both verdicts to agree", async () => {
    const agreeing = await withJudge(["[[A=B]]", "[[A=B]]"]);
    const { body: equal } = await agreeing.server.verify(body("\\boxed{half}"));
    expect([equal.reward, equal.library_reward, equal.judge_evaluations.length]).toEqual([1, 0, 2]);
    expect(agreeing.prompts[0]).toContain("<answer_a>\n\\frac{1}{2}\n</answer_a>");
    expect(agreeing.prompts[1]).toContain("<answer_b>\n\\frac{1}{2}\n</answer_b>");
    const wavering = await withJudge(["[[A=B]]", "[[A!=B]]"]);
    expect((await wavering.server.verify(body("\\boxed{half}"))).body.reward).toBe(0);
    const refusing = await withJudge(["[[A!=B]] and not [[A=B]]"]);
    expect((await refusing.server.verify(body("\\boxed{half}"))).body.judge_evaluations).toHaveLength(1);
  });

  it("shows the judge the content of the last box", async () => {
    const { server, prompts } = await withJudge(["[[A!=B]]"]);
    await server.verify(body("\\boxed{3}, no: \\boxed{\\text{one half}}"));
    expect(prompts[0]).toContain("<answer_b>\n\\text{one half}\n</answer_b>");
  });

  it.each(["It is 0.5", "\\boxed{ }", "\\boxed{0.5} and \\boxed{0.5", "\\boxed 1", "\\boxed {0.5}", ""])(
    "gives 0 without a judge if the last box is missing, blank or open: %j",
    async (answer) => {
      const { server, prompts } = await withJudge(["[[A=B]]", "[[A=B]]"]);
      const { body: result } = await server.verify(body(answer));
      expect(result).toMatchObject({ reward: 0, extracted_answer: null, judge_evaluations: null });
      expect(prompts).toEqual([]);
    },
  );

  it("fails the rollout if the judge cannot be reached", async () => {
    const { server } = await withJudge([null]);
    expect((await server.verify(body("\\boxed{half}"))).body._ng_failure_class).toBe("judge_failed");
  });

  it("gives the mathematically correct result with answer_comparison: strict", async () => {
    const compat = await withJudge([], { should_use_judge: false });
    expect((await compat.server.verify(body("\\boxed{i^2}", "-1"))).body.reward).toBe(0);
    const strict = await withJudge([], { should_use_judge: false, answer_comparison: "strict" });
    expect((await strict.server.verify(body("\\boxed{i^2}", "-1"))).body.reward).toBe(1);
  });

  it("gives 0 for hostile replies without delaying others", async () => {
    const { server } = await withJudge([], { should_use_judge: false });
    const slow = server.verify(body(`\\boxed{${"|x".repeat(300)}}`));
    const quick = server.verify(body("\\boxed{0.5}"));
    expect((await Promise.race([slow, quick])).body.reward).toBe(1);
    expect((await slow).body.reward).toBe(0);
    await server.close();
  });

  it("accepts every example row", async () => {
    const rows = (await readFile(new URL("data/example.jsonl", import.meta.url), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(5);
    for (const line of rows) {
      const { server } = await withJudge([], { should_use_judge: false });
      const row = JSON.parse(line) as Record<string, unknown>;
      const { body: result } = await server.verify(
        verifyBody(row, messageItem(`\\boxed{${row["expected_answer"]}}`)),
      );
      expect([row["expected_answer"], result.reward]).toEqual([row["expected_answer"], 1]);
    }
  });
});
