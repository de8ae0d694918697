import { readFileSync } from "node:fs";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "./app.ts";

const row = { expected_answers: [{ name: "f", arguments: { a: 1 } }] };

describe("xlam_fc", () => {
  it("rewards exactly the expected calls", async () => {
    const server = await createTestServer(app);
    const right = await server.verify(
      verifyBody(row, messageItem("calling"), functionCallItem("f", { a: 1 })),
    );
    expect(right.body).toMatchObject({ reward: 1, num_expected: 1, num_predicted: 1, num_correct: 1 });
    expect(right.body).not.toHaveProperty("expected_answers");
    const surplus = await server.verify(
      verifyBody(row, functionCallItem("f", { a: 1 }), functionCallItem("g")),
    );
    expect(surplus.body).toMatchObject({ reward: 0, num_predicted: 2, num_correct: 1 });
  });

  it("expects no call if the row names none", async () => {
    const server = await createTestServer(app);
    expect((await server.verify(verifyBody({}))).body.reward).toBe(1);
    expect((await server.verify(verifyBody({}, functionCallItem("f")))).body.reward).toBe(0);
  });

  it("refuses rows whose answers are not calls, and names the field", async () => {
    const server = await createTestServer(app);
    const { status, body } = await server.verify(verifyBody({ expected_answers: ["x"] }));
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(["body", "expected_answers", 0]);
  });

  it("rewards the expected calls of its example rows", async () => {
    const server = await createTestServer(app);
    const lines = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const example = JSON.parse(line);
      const calls = example.expected_answers.map((call: { name: string; arguments: unknown }) =>
        functionCallItem(call.name, call.arguments),
      );
      expect((await server.verify(verifyBody(example, ...calls))).body.reward).toBe(1);
      expect(
        (await server.verify(verifyBody(example, functionCallItem("no_such_function")))).body.reward,
      ).toBe(0);
    }
  });

  it("handles hostile arguments in bounded time", async () => {
    const server = await createTestServer(app);
    const hostile = [
      "x".repeat(5_000_000),
      "[".repeat(1_000_000),
      `{"a": ${"9".repeat(1_000_000)}}`,
      '{"a": "\ud800", "b": NaN, "c": 1e999}',
      '{"__proto__": {"a": 1}}',
      `"${'\\"'.repeat(500_000)}"`,
    ].map((args) => functionCallItem("f", args));
    const reply = await server.verify(verifyBody(row, ...hostile));
    expect(reply).toMatchObject({
      status: 200,
      body: { reward: 0, num_predicted: hostile.length, num_correct: 0 },
    });
  });
});
