import { readFileSync } from "node:fs";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "./app.ts";
import { CATEGORIES } from "./categories.ts";

const serve = (options: Record<string, unknown> = {}) =>
  createTestServer(app, {
    config: { tool_call_comparator_config: { word_count_similarity_threshold: 0.1, ...options } },
  });

const call = (name: string, args: unknown) => ({
  type: "function_call",
  name,
  arguments: JSON.stringify(args),
});
const batch = (...calls: unknown[]) => ({ expected_action: { type: "function_call_batch", calls } });
const pair = batch(call("f", { q: "alpha" }), call("f", { q: "beta" }));
const alpha = functionCallItem("f", { q: "alpha" });
const beta = functionCallItem("f", { q: "beta" });

describe("single_step_tool_use_with_argument_comparison", () => {
  it("distinguishes calls from messages", async () => {
    const server = await serve();
    const expectMessage = { expected_action: { type: "message", content: "Hello" } };
    const expectCall = { expected_action: call("f", {}) };
    const score = async (row: Record<string, unknown>, ...output: unknown[]) =>
      (await server.verify(verifyBody(row, ...output))).body;
    expect(await score(expectMessage, messageItem(""))).toMatchObject({ reward: 1, ...expectMessage });
    expect(await score(expectMessage, messageItem("x"), functionCallItem("f"))).toMatchObject({
      reward: 0,
      category: CATEGORIES.noExpectedChatMessage,
    });
    expect(await score(expectCall, messageItem("hi"))).toMatchObject({
      reward: 0,
      category: CATEGORIES.noExpectedToolCall,
    });
    expect(await score(expectCall, messageItem("hi"), functionCallItem("f"))).toMatchObject({ reward: 1 });
    expect(await score(expectCall)).toMatchObject({ reward: 0, category: CATEGORIES.noActionFound });
    expect(await score(expectMessage, messageItem())).toMatchObject({
      reward: 0,
      category: CATEGORIES.noActionFound,
    });
  });

  it.each([
    ["as many as expected, in any order", {}, [beta, alpha], 1, CATEGORIES.expectedToolCallBatch],
    ["one too few, count ignored", {}, [alpha], 0, CATEGORIES.batchLengthDifferent],
    ["one too many, count ignored", {}, [alpha, beta, beta], 1, CATEGORIES.expectedToolCallBatch],
    [
      "one too few, refused",
      { parallel_tool_call_rewarding: true },
      [alpha],
      0,
      CATEGORIES.batchLengthDifferent,
    ],
    [
      "one too few, allowed",
      { parallel_tool_call_rewarding: true, allow_subset: true },
      [alpha],
      1,
      CATEGORIES.expectedToolCallBatch,
    ],
    [
      "half of them",
      { parallel_tool_call_rewarding: true, parallel_tool_call_reward_mode: "fractional" },
      [alpha, alpha],
      0.5,
      CATEGORIES.valueDifferent,
    ],
    [
      "a surplus under f1",
      { parallel_tool_call_rewarding: true, allow_superset: true, parallel_tool_call_reward_mode: "f1" },
      [alpha, beta, alpha],
      0.8,
      CATEGORIES.batchLengthDifferent,
    ],
  ])("scores a batch with %s", async (_, options, output, reward, category) => {
    const server = await serve(options);
    expect((await server.verify(verifyBody(pair, ...output))).body).toMatchObject({ reward, category });
  });

  it("refuses malformed rows and expected arguments that are not JSON, and names the field", async () => {
    const server = await serve();
    for (const expected_action of [
      { type: "x" },
      { type: "function_call", name: "f" },
      batch().expected_action,
      null,
    ]) {
      const { status, body } = await server.verify(verifyBody({ expected_action }));
      expect(status).toBe(422);
      expect(body.detail[0].loc.slice(0, 2)).toEqual(["body", "expected_action"]);
    }
    const broken = { expected_action: { type: "function_call", name: "f", arguments: "{bad" } };
    expect((await server.verify(verifyBody(broken, functionCallItem("f")))).status).toBe(422);
    expect((await server.verify(verifyBody(broken, functionCallItem("g")))).body.category).toBe(
      CATEGORIES.unexpectedTool,
    );
  });

  it("requires its comparator config", async () => {
    await expect(createTestServer(app)).rejects.toThrow(/tool_call_comparator_config/);
  });

  it.each(["example", "parallel_example"])("rewards the expected actions of its %s rows", async (name) => {
    const server = await serve({
      parallel_tool_call_rewarding: true,
      parallel_tool_call_reward_mode: "f1",
      allow_subset: true,
      allow_superset: true,
    });
    const lines = readFileSync(new URL(`data/${name}.jsonl`, import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const row = JSON.parse(line);
      const action = row.expected_action;
      const output =
        action.type === "message"
          ? [messageItem(action.content)]
          : (action.calls ?? [action]).map((each: { name: string; arguments: string }) =>
              functionCallItem(each.name, each.arguments),
            );
      expect((await server.verify(verifyBody(row, ...output))).body.reward).toBe(1);
      expect((await server.verify(verifyBody(row, functionCallItem("nothing_like_it")))).body.reward).toBe(0);
    }
  });

  it("handles hostile arguments in bounded time", async () => {
    const server = await serve();
    const row = { expected_action: call("f", { q: "one two three" }) };
    for (const args of [
      "x".repeat(5_000_000),
      "[".repeat(1_000_000),
      `{"q": "${"word ".repeat(200_000)}"}`,
      `{"q": "${" ".repeat(1_000_000)}"}`,
      `{"q": ${"9".repeat(1_000_000)}}`,
      '{"q": "\ud800 \udfff"}',
      `${'{"q":'.repeat(900)}1${"}".repeat(900)}`,
    ]) {
      expect(await server.verify(verifyBody(row, functionCallItem("f", args)))).toMatchObject({
        status: 200,
        body: { reward: 0 },
      });
    }
    const many = Array.from({ length: 300 }, () => functionCallItem("f", { q: "one two three" }));
    expect((await server.verify(verifyBody(row, ...many))).body.reward).toBe(1);
  });
});
