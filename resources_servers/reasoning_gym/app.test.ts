import { readFileSync } from "node:fs";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "./app.ts";

const row = { question: "What is 40 + 2?", answer: "42", metadata: { source_dataset: "basic_arithmetic" } };

describe("reasoning_gym", () => {
  it("scores the tagged answer of all messages together", async () => {
    const server = await createTestServer(app);
    const { body } = await server.verify(
      verifyBody(row, messageItem("<answer>4"), messageItem("2</answer>")),
    );
    expect(body).toMatchObject({
      reward: 1,
      score: 1,
      task_name: "basic_arithmetic",
      extracted_answer: "42",
    });
    expect(body).not.toHaveProperty("metadata");
    expect((await server.verify(verifyBody(row, messageItem("the answer is 42")))).body.reward).toBe(0.125);
    expect((await server.verify(verifyBody(row))).body).toMatchObject({ reward: 0, extracted_answer: "" });
  });

  it("accepts tasks without a known answer", async () => {
    const server = await createTestServer(app);
    expect((await server.verify(verifyBody({ ...row, answer: null }, messageItem("42")))).body.reward).toBe(
      0,
    );
  });

  it.each([
    [{ ...row, question: undefined }, ["question"]],
    [{ ...row, answer: undefined }, ["answer"]],
    [{ ...row, metadata: undefined }, ["metadata"]],
    [{ ...row, metadata: {} }, ["metadata", "source_dataset"]],
  ])("refuses malformed rows and names the field", async (bad, path) => {
    const server = await createTestServer(app);
    const { status, body } = await server.verify(verifyBody(bad));
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", ...path]);
  });

  it("rewards the answers of its example rows", async () => {
    const server = await createTestServer(app);
    const lines = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const example = JSON.parse(line);
      const answer = messageItem(`<answer>${example.answer}</answer>`);
      expect((await server.verify(verifyBody(example, answer))).body.reward).toBe(1);
    }
  });

  it("handles hostile answers in bounded time", async () => {
    const server = await createTestServer(app);
    for (const text of [
      "x".repeat(5_000_000),
      "<answer>".repeat(500_000),
      "\\boxed{".repeat(500_000),
      "\ud800<answer>\udfff</answer>",
    ]) {
      expect((await server.verify(verifyBody(row, messageItem(text)))).status).toBe(200);
    }
  });
});
