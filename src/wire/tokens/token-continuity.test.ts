import { describe, expect, it } from "vitest";
import type { ResponseOutputItem } from "../schemas/item-types.ts";
import { callsOf, classifyBoundary, classifyCalls } from "./token-continuity.ts";

const call = (prompt: number[], generation: number[]) => ({
  prompt_token_ids: prompt,
  generation_token_ids: generation,
});

describe("classifyBoundary", () => {
  const before = call([1, 2], [3, 4]);

  it("distinguishes extend, fork and lost", () => {
    expect(classifyBoundary(before, call([1, 2, 3, 4, 9], [5]))).toEqual({ kind: "extend" });
    expect(classifyBoundary(before, call([1, 2, 3, 4], [5]))).toEqual({ kind: "extend" });
    expect(classifyBoundary(before, call([1, 2, 3, 5], []))).toEqual({
      kind: "fork",
      agreeing: 3,
      departsIn: "generation",
    });
    expect(classifyBoundary(before, call([1], []))).toEqual({
      kind: "fork",
      agreeing: 1,
      departsIn: "prompt",
    });
    expect(classifyBoundary(undefined, before)).toEqual({ kind: "lost" });
    expect(classifyBoundary(before, undefined)).toEqual({ kind: "lost" });
  });
});

it("counts the boundaries of a rollout", () => {
  const calls = [call([1], [2]), call([1, 2, 3], [4]), call([9], [9]), undefined];
  expect(classifyCalls(calls).counts).toEqual({ extend: 1, fork: 1, lost: 1 });
  expect(classifyCalls([]).boundaries).toEqual([]);
});

it("finds the calls of a trajectory, including those without ids", () => {
  const tokens = { ...call([1], [2]), generation_log_probs: [-1] };
  const output: ResponseOutputItem[] = [
    { type: "reasoning", id: "r", summary: [] },
    { type: "function_call", call_id: "c", name: "f", arguments: "{}", ...tokens },
    { type: "function_call_output", call_id: "c", output: "o" },
    { type: "function_call", call_id: "d", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "d", output: "o" },
    { type: "reasoning", id: "r2", summary: [], ...tokens },
    { type: "message", id: "m", content: [], ...tokens },
    { type: "message", role: "user", content: "obs" },
    { type: "message", id: "m2", role: "assistant", content: [] },
  ];
  expect(callsOf(output)).toEqual([tokens, undefined, tokens, tokens, undefined]);
});
