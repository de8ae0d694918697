import { describe, expect, it } from "vitest";
import {
  functionCallOutputs,
  functionCalls,
  lastAssistantText,
  lastItemText,
  outputText,
  parseArguments,
  readLastItem,
  splitItems,
  stripMcpPrefix,
} from "./read-output.ts";
import type { ResponseInputItem, ResponseOutputItem } from "./schemas/item-types.ts";

const say = (...texts: string[]): ResponseOutputItem => ({
  type: "message",
  id: "m",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
});
const reject: ResponseOutputItem = {
  type: "message",
  id: "m",
  content: [{ type: "refusal", refusal: "no" }],
};
const call: ResponseOutputItem = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const result: ResponseOutputItem = { type: "function_call_output", call_id: "c", output: "o" };
const think: ResponseOutputItem = { type: "reasoning", id: "r", summary: [] };
const user: ResponseOutputItem = { type: "message", role: "user", content: "obs" };

describe("outputText", () => {
  it("joins all output_text parts and no others", () => {
    expect(outputText({ output: [think, say("a", "b"), call, reject, user, say("c")] })).toBe("abc");
    expect(outputText({ output: [] })).toBe("");
  });
});

describe("lastItemText", () => {
  it("reads the first part of the last item", () => {
    expect(lastItemText({ output: [say("a"), say("b", "c")] })).toBe("b");
    expect(lastItemText({ output: [user] })).toBe("obs");
  });

  it("is empty without output, without content, and for a call", () => {
    for (const output of [[], [say()], [say("a"), call], [say("a"), think]])
      expect(lastItemText({ output })).toBe("");
  });

  it("reports a refusal separately", () => {
    expect(readLastItem({ output: [reject] })).toEqual({ kind: "refusal", refusal: "no" });
    expect(lastItemText({ output: [reject] })).toBe("");
  });
});

describe("lastAssistantText", () => {
  it("finds the last message, joins its parts and strips the text", () => {
    expect(lastAssistantText({ output: [say("x"), say(" a", "b \u2003"), call, user] })).toBe("a\nb");
    expect(lastAssistantText({ output: [say(" a", "b ")] }, { joiner: "", strip: false })).toBe(" ab ");
    expect(lastAssistantText({ output: [call] })).toBe("");
  });
});

describe("calls", () => {
  it("returns calls and their outputs", () => {
    expect(functionCalls({ output: [think, call, result] })).toEqual([call]);
    expect(functionCallOutputs({ output: [think, call, result] })).toEqual([result]);
  });

  it("decodes arguments without throwing", () => {
    expect(parseArguments('{"a": 1.0, "n": NaN}')).toEqual({ ok: true, value: { a: 1, n: Number.NaN } });
    expect(parseArguments("[1]")).toEqual({ ok: false, reason: "not_object" });
    expect(parseArguments("{broken")).toEqual({ ok: false, reason: "not_json" });
    expect(parseArguments("")).toEqual({ ok: false, reason: "not_json" });
  });
});

describe("splitItems", () => {
  const counts = (items: ResponseInputItem[]) => {
    const { input, output } = splitItems(items);
    return [input.length, output.length];
  };
  const user: ResponseInputItem = { role: "user", content: "q" };
  const result: ResponseInputItem = { type: "function_call_output", call_id: "c", output: "o" };

  it("splits at the first generated item", () => {
    expect(counts([user, result, { type: "reasoning", id: "r", summary: [] }, user])).toEqual([2, 2]);
    expect(counts([user, { role: "assistant", content: "a" }, user])).toEqual([1, 2]);
    expect(counts([user, { type: "web_search_call" }])).toEqual([1, 1]);
  });

  it("never splits at results and approvals", () => {
    expect(
      counts([user, result, { type: "mcp_approval_response" }, { type: "custom_tool_call_output" }]),
    ).toEqual([4, 0]);
    expect(counts([])).toEqual([0, 0]);
  });
});

it.each([
  ["mcp__harbour__find__it", "harbour", "find__it"],
  ["mcp__other__find", "harbour", "mcp__other__find"],
  ["find", "harbour", "find"],
  ["mcp__harbour__find__it", undefined, "find__it"],
  ["mcp__harbour__find", null, "find"],
  ["mcp__harbour__", undefined, ""],
  ["mcp__harbour", undefined, "mcp__harbour"],
  ["find__it", undefined, "find__it"],
])("stripMcpPrefix: %s, server %s", (name, server, bare) => {
  expect(stripMcpPrefix(name, server)).toBe(bare);
});
