import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

async function withGrader(reply: string | null, config: Record<string, unknown> = {}) {
  const prompts: string[] = [];
  const server = await createTestServer(definition, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" }, ...config },
    directory,
    servers: {
      judge: (_path, body) => {
        prompts.push((body as { input: { content: string }[] }).input.at(-1)?.content ?? "");
        if (reply === null) throw new Error("connection refused");
        return { id: "r", output: [messageItem(reply)] };
      },
    },
  });
  return { server, prompts };
}

const body = (answer: string) =>
  verifyBody(
    { responses_create_params: { input: [] }, question: "Q?", expected_answer: "4" },
    messageItem(answer),
  );

describe("physics_judge", () => {
  it("does not ask the grader about equal answers", async () => {
    const { server, prompts } = await withGrader("[Incorrect]");
    expect((await server.verify(body("\\boxed{2^2}"))).body).toMatchObject({ reward: 1, library_reward: 1 });
    expect(prompts).toEqual([]);
  });

  it("uses the grader's verdict for other answers", async () => {
    const right = await withGrader("[Correct]");
    const { body: result } = await right.server.verify(body("\\boxed{four}"));
    expect([result.reward, result.library_reward, result.judge_evaluations.length]).toEqual([1, 0, 1]);
    expect(right.prompts[0]).toContain("Q?");
    const wrong = await withGrader("[Incorrect]");
    expect((await wrong.server.verify(body("\\boxed{four}"))).body.reward).toBe(0);
    const unreadable = await withGrader("I cannot say");
    expect((await unreadable.server.verify(body("\\boxed{four}"))).body.reward).toBe(0);
  });

  it("works without a grader, and fails the rollout if the grader cannot be reached", async () => {
    const off = await withGrader(null, { should_use_judge: false });
    expect((await off.server.verify(body("\\boxed{four}"))).body).toMatchObject({
      reward: 0,
      judge_evaluations: null,
    });
    const { server } = await withGrader(null);
    expect((await server.verify(body("\\boxed{four}"))).body._ng_failure_class).toBe("judge_failed");
  });

  it("accepts every example row", async () => {
    const rows = (await readFile(new URL("data/example.jsonl", import.meta.url), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(5);
    for (const line of rows) {
      const { server } = await withGrader("[Incorrect]");
      const row = JSON.parse(line) as Record<string, unknown>;
      const reply = messageItem(`\\boxed{${row["expected_answer"]}}`);
      expect((await server.verify(verifyBody(row, reply))).body.reward).toBe(1);
    }
  });
});
