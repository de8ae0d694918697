import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = { expected_answer: '["a", "b", "c"]', problem_type: "bfs" };

async function verify(text: string, extra: Record<string, unknown> = {}) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ ...row, ...extra }, messageItem(text)));
}

describe("graphwalks", () => {
  it("scores the F1 of the nodes and repeats the row", async () => {
    const { body } = await verify("Final Answer: [a, b, a]", { n_tokens: "12" });
    expect(body).toMatchObject({ ...row, f1: 0.8, reward: 0.8, n_tokens: 12, prompt_chars: null });
    expect(body).toMatchObject({ parse_failed: false, predicted_nodes: ["a", "b", "a"] });
  });

  it.each(["", "a, b, c", "Final Answer: a, b, c", "Final Answer: [a, b, c]\nDone."])(
    "gives 0 for %j",
    async (text) => {
      expect((await verify(text)).body).toMatchObject({ reward: 0, parse_failed: true, predicted_nodes: [] });
    },
  );

  it("distinguishes an empty list from no list", async () => {
    const empty = { expected_answer: "[]" };
    expect((await verify("Final Answer: []", empty)).body).toMatchObject({ reward: 1, parse_failed: false });
    expect((await verify("There are none.", empty)).body).toMatchObject({ reward: 0, parse_failed: true });
  });

  it("refuses a row without an answer", async () => {
    const { status, text } = await verify("x", { expected_answer: null });
    expect(status).toBe(422);
    expect(text).toContain("expected_answer");
  });
});
