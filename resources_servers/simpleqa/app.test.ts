import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readGrade } from "./grade.ts";
import { simpleqaMetrics } from "./metrics.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

describe("readGrade", () => {
  it.each([
    ["A", "A"],
    [" B: wrong", "B"],
    ["It fits.\nA", "A"],
    ["Because it fits.\nA", "B"],
    ["The grade is A", "A"],
    ["CORRECT", "C"],
    ["INCORRECT", "C"],
    ["Answer: B", "A"],
    ["no idea", null],
  ])("%j is %s", (reply, grade) => {
    expect(readGrade(reply)).toBe(grade);
  });
});

describe("simpleqa", () => {
  interface Call {
    path: string;
    body: Record<string, unknown>;
  }

  async function withJudge(reply: unknown, config: Record<string, unknown> = {}) {
    const calls: Call[] = [];
    const server = await createTestServer(definition, {
      config: {
        judge_model_server: { type: "responses_api_models", name: "judge" },
        judge_responses_create_params: { input: [], temperature: 0, max_output_tokens: 0 },
        ...config,
      },
      directory,
      servers: {
        judge: (path, body) => {
          calls.push({ path, body: body as Record<string, unknown> });
          if (reply === null) throw new Error("connection refused");
          return reply;
        },
      },
    });
    return { server, calls };
  }

  const row = { id: 7, question: "Capital of Peru?", expected_answer: "Lima", extra: [1] };

  it("asks the judge and reports the verdict", async () => {
    const { server, calls } = await withJudge({ output: [messageItem("B")] });
    const { body } = await server.verify(verifyBody(row, messageItem("{Cusco}")));
    expect(body).toMatchObject({
      ...row,
      reward: 0,
      extracted_answer: "{Cusco}",
      verdict: "incorrect",
      judge_output: "B",
      is_correct: 0,
      is_incorrect: 1,
      is_not_attempted: 0,
    });
    const prompt = JSON.stringify(calls[0]?.body["input"]);
    for (const part of ["Capital of Peru?", "Lima", "{Cusco}"]) expect(prompt).toContain(part);
  });

  it("asks about an empty answer too, and treats absent fields as empty", async () => {
    const { server, calls } = await withJudge({ output: [messageItem("C")] });
    const { body } = await server.verify(verifyBody({}));
    expect(calls).toHaveLength(1);
    expect(body).toMatchObject({
      id: null,
      question: null,
      expected_answer: "",
      extracted_answer: "",
      verdict: "not_attempted",
    });
  });

  it("counts a reply without a grade as not attempted, and reports it in the row", async () => {
    const usage = { input_tokens: 9, output_tokens: 3 };
    const { server } = await withJudge({ output: [messageItem("no idea")], usage });
    const { body } = await server.verify(verifyBody(row, messageItem("Lima")));
    expect(body).toMatchObject({ reward: 0, verdict: "not_attempted" });
    expect(body["_ng_judge"]).toMatchObject({
      calls: 1,
      input_tokens: 9,
      output_tokens: 3,
      unreadable: 1,
      judges: [{ server: "judge", model: null, calls: 1 }],
    });
  });

  it("uses Chat Completions if the config says so", async () => {
    const { server, calls } = await withJudge(
      { choices: [{ message: { role: "assistant", content: " A " } }] },
      { use_chat_completions_for_judge: true },
    );
    expect((await server.verify(verifyBody(row, messageItem("Lima")))).body.reward).toBe(1);
    expect(calls[0]?.path).toBe("/v1/chat/completions");
    expect(calls[0]?.body).toMatchObject({ max_tokens: 64, temperature: 0, top_p: 1 });
    expect(calls[0]?.body).not.toHaveProperty("input");
  });

  it.each([
    ["a call that fails", null],
    ["an empty reply", { output: [messageItem("")] }],
    ["a reply without text", { output: [] }],
    ["an error", { status: 500, body: "overloaded" }],
  ])("fails the rollout on %s", async (_name, reply) => {
    const { server } = await withJudge(reply);
    const { status, body } = await server.verify(verifyBody(row, messageItem("Lima")));
    expect(status).toBe(200);
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    expect(body).not.toHaveProperty("verdict");
  });

  it("refuses rows with fields of the wrong type", async () => {
    const { server } = await withJudge(null);
    expect((await server.verify(verifyBody({ question: 5 }, messageItem("x")))).text).toContain("question");
  });

  it("refuses to start with a prompt that it cannot fill", async () => {
    await expect(withJudge(null, { judge_prompt_path: "prompts/missing.yaml" })).rejects.toThrow(
      "missing.yaml",
    );
  });
});

describe("metrics", () => {
  it("adds accuracy_given_attempted and F1 to every share", () => {
    const rows = ["correct", "incorrect", "not_attempted", "correct"].map((verdict) => [
      { verdict, extracted_answer: verdict },
    ]);
    const metrics = simpleqaMetrics.compute?.(rows) ?? {};
    expect(metrics["pass@1/accuracy_given_attempted"]).toBeCloseTo(200 / 3, 9);
    expect(metrics["pass@1/f1"]).toBeCloseTo(400 / 7, 9);
    expect(simpleqaMetrics.key?.({ ...metrics, "mean/input_tokens": 5 })).toMatchObject({
      "mean/input_tokens": 5,
      "pass@1[avg-of-1]/correct": 50,
    });
  });
});
