import { readFileSync } from "node:fs";
import { PyRandom } from "nemo-gym/python";
import { createTestServer, functionCallOutputItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "./app.ts";
import { drawExpressions, evaluate, taskRow } from "./tasks.ts";

const row = { ground_truth: "[10.2]", id: 0, depth: 1, breadth: 1 };

describe("math_advanced_calculations", () => {
  it("answers tool calls and rewards their values", async () => {
    const server = await createTestServer(app);
    const reply = await server.tool("add", { a: "4", b: 5, radians: null, unknown: 1 });
    expect(reply).toMatchObject({ status: 200, body: { solution: 10.2 } });
    const right = await server.verify(
      verifyBody(row, functionCallOutputItem(reply.text), messageItem("10.2")),
    );
    expect(right.body).toMatchObject({ reward: 1 });
    expect(right.body).not.toHaveProperty("ground_truth");
    expect((await server.verify(verifyBody(row, messageItem("10.2")))).body).toMatchObject({ reward: 0 });
  });

  it("returns different errors for unknown tools, invalid numbers and failed calculations", async () => {
    const server = await createTestServer(app);
    expect(await server.tool("tan", { radians: 1 })).toMatchObject({
      status: 404,
      body: { detail: "Function not found" },
    });
    expect(await server.tool("add", { a: "x", b: 1 })).toMatchObject({ status: 422 });
    expect(await server.tool("divide", { a: 1, b: 0 })).toMatchObject({
      status: 500,
      body: { detail: "float division by zero" },
    });
    expect((await server.tool("multiply", { a: 1e200, b: 1e200 })).body).toEqual({ solution: null });
  });

  it("refuses rows without a readable ground truth and names the field", async () => {
    const server = await createTestServer(app);
    for (const ground_truth of ["not json", "1", [1], null, undefined]) {
      const { status, body } = await server.verify(verifyBody({ ...row, ground_truth }));
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(["body", "ground_truth"]);
    }
    const { body } = await server.verify(verifyBody({ ...row, depth: "deep" }));
    expect(body.detail[0].loc).toEqual(["body", "depth"]);
  });

  it("solves its example rows with its own calculators", async () => {
    const server = await createTestServer(app);
    const lines = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const [id, line] of lines.entries()) {
      const example = JSON.parse(line);
      expect(taskRow(id, 3, example)).toEqual(example);
      const outputs: unknown[] = [];
      for (const expression of drawExpressions(new PyRandom(3n * 1_000_003n + BigInt(id)), example)) {
        evaluate(expression, (_tool, _args, solution) => outputs.push(functionCallOutputItem({ solution })));
      }
      expect((await server.verify(verifyBody(example, ...outputs))).body.reward).toBe(1);
    }
  });

  it("handles hostile output in bounded time", async () => {
    const server = await createTestServer(app);
    const hostile = [
      "x".repeat(5_000_000),
      "[".repeat(1_000_000),
      `{"solution": ${"9".repeat(1_000_000)}}`,
      `{"solution": "${"1_".repeat(500_000)}"}`,
      `{"solution": "${" ".repeat(1_000_000)}1"}`,
      '{"solution": "\ud800"}',
      `{"solution": ${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
      '{"solution": NaN}',
      '{"__proto__": {"solution": 10.2}}',
    ].map((output) => functionCallOutputItem(output));
    expect(await server.verify(verifyBody(row, ...hostile))).toMatchObject({
      status: 200,
      body: { reward: 0 },
    });
  });
});
