import { describe, expect, it } from "vitest";
import { tokenBoundariesOf, tokenReportOf } from "./tokens.ts";

const said = (prompt?: number[], generation?: number[]) => ({
  type: "message",
  role: "assistant",
  content: [],
  ...(prompt && { prompt_token_ids: prompt, generation_token_ids: generation }),
});
const output = { type: "function_call_output", call_id: "1", output: "" };
const row = (items: unknown[]) => ({ response: { output: items } });
const kinds = (items: unknown[], isCut?: (index: number) => boolean) =>
  tokenBoundariesOf(row(items), isCut).map(({ call, outputIndex, kind }) => [call, outputIndex, kind]);

describe("tokenBoundariesOf", () => {
  it("classifies how each call continues the previous tokens", () => {
    const items = [
      said([1, 2], [3]),
      output,
      said([1, 2, 3, 4], [5]),
      output,
      said(),
      output,
      said([9], [8]),
    ];
    expect(kinds(items)).toEqual([
      [1, 0, "first"],
      [2, 2, "extend"],
      [3, 4, "lost"],
      [4, 6, "lost"],
    ]);
    expect(tokenBoundariesOf(row(items))[1]).toMatchObject({ agreeing: 3 });
  });

  it("reports where a prompt diverges and the expected token", () => {
    const forked = (prompt: number[]) =>
      tokenBoundariesOf(row([said([1, 2], [3, 4]), output, said(prompt, [5])]))[1];
    expect(forked([1, 2, 3, 7, 8])).toMatchObject({
      kind: "fork",
      agreeing: 3,
      departsIn: "generation",
      expected: 4,
    });
    expect(forked([1, 6])).toMatchObject({ kind: "fork", agreeing: 1, departsIn: "prompt", expected: 2 });
    // A prompt that is shorter than the earlier tokens.
    expect(forked([1, 2, 3])).toMatchObject({ kind: "fork", agreeing: 3, expected: 4 });
  });

  it("does not classify truncated lists", () => {
    const items = [said([1], [2]), output, said([1, 2, 3], [4]), output, said([1, 2, 3, 4], [5])];
    expect(kinds(items, (index) => index === 2).map(([, , kind]) => kind)).toEqual([
      "first",
      "unknown",
      "unknown",
    ]);
  });

  it("accepts rows of any shape", () => {
    expect(tokenBoundariesOf({})).toEqual([]);
    expect(kinds([said()])).toEqual([]);
    expect(kinds([null, 5, { prompt_token_ids: "x", generation_token_ids: [1] }, said([1], [2])])).toEqual([
      [1, 3, "first"],
    ]);
  });
});

describe("tokenReportOf", () => {
  it("prefers the counts of the capture to those of the agent", () => {
    const [captured, counted] = [
      { extend: 1, fork: 0, lost: 0 },
      { extend: 0, fork: 2, lost: 0 },
    ];
    expect(
      tokenReportOf({
        _ng_token_capture: { n_calls: 2, error: "nothing recorded", turn_boundaries: captured },
        _ng_turn_boundaries: counted,
      }),
    ).toEqual({
      capture: [
        { name: "n_calls", value: 2 },
        { name: "error", value: "nothing recorded" },
      ],
      counts: captured,
    });
    expect(tokenReportOf({ _ng_turn_boundaries: counted }).counts).toEqual(counted);
    expect(tokenReportOf({ _ng_token_capture: "x" })).toEqual({ capture: [], counts: undefined });
  });
});
