import { describe, expect, it } from "vitest";
import type { ResponseOutputItem } from "../schemas/item-types.ts";
import { callsOf, classifyCalls } from "./token-continuity.ts";
import { rebuildFromTokens, type TokenRecord } from "./token-rebuild.ts";

let clock = 0;
const record = (
  id: string,
  prompt: number[],
  generation: number[],
  more: Partial<TokenRecord> = {},
): TokenRecord => ({
  model_call_id: id,
  prompt_token_ids: prompt,
  generation_token_ids: generation,
  generation_log_probs: generation.map(() => -0.5),
  output_items: [{ type: "message", id: `m-${id}`, content: [] }],
  created_at: clock++,
  ...more,
});
const ids = (output: ResponseOutputItem[]) => output.map((item) => (item as { id: string }).id);

describe("rebuildFromTokens", () => {
  it("links calls in any order", () => {
    const records = [
      record("c", [1, 2, 3, 4, 5, 6, 7], [8]),
      record("a", [1], [2]),
      record("b", [1, 2, 3], [4, 5]),
    ];
    const rebuilt = rebuildFromTokens(records);
    expect(ids(rebuilt.output)).toEqual(["m-a", "m-b", "m-c"]);
    expect(rebuilt).toMatchObject({
      mask_sample: false,
      metrics: { n_calls: 3, chains: 1, roots: 1, delivered_fraction: 1, generated_tokens_delivered: 4 },
    });
    expect(classifyCalls(callsOf(rebuilt.output)).counts).toEqual({ extend: 2, fork: 0, lost: 0 });
  });

  it("keeps the retry that a later call continues", () => {
    const rebuilt = rebuildFromTokens([
      record("a", [1], [2]),
      record("a2", [1], [3]),
      record("b", [1, 3, 4], [5]),
    ]);
    expect(ids(rebuilt.output)).toEqual(["m-a2", "m-b"]);
    expect(rebuilt).toMatchObject({ quarantined: ["a"], unresolved_retries: [], mask_sample: true });
    expect(rebuilt.metrics).toMatchObject({ roots: 2, chains: 1, quarantined_fraction: 0.3333 });
  });

  it("masks an unresolved retry", () => {
    const rebuilt = rebuildFromTokens([
      record("a", [1], [2]),
      record("b", [1, 2, 3], [4]),
      record("c", [1, 2, 3], [5]),
    ]);
    expect(rebuilt).toMatchObject({ mask_sample: true, unresolved_retries: ["b", "c"], quarantined: ["c"] });
    expect(ids(rebuilt.output)).toEqual(["m-a", "m-b"]);
  });

  it("quarantines a call with two identical parents", () => {
    const rebuilt = rebuildFromTokens([
      record("a", [1], [2]),
      record("b", [1], [2]),
      record("c", [1, 2, 3], [4]),
    ]);
    expect(rebuilt.quarantined).toEqual(["b", "c"]);
    expect(rebuilt.mask_sample).toBe(true);
  });

  it("delivers the chain whose root finished first and masks a split rollout", () => {
    const rebuilt = rebuildFromTokens([
      record("late", [9], [9], { created_at: 50 }),
      record("early", [7, 7], [7, 7], { created_at: 10 }),
    ]);
    expect(ids(rebuilt.output)).toEqual(["m-early"]);
    expect(rebuilt).toMatchObject({
      mask_sample: true,
      metrics: { roots: 2, chains: 2, delivered_fraction: 0.6667 },
    });
  });

  it("ignores calls that generated nothing", () => {
    const rebuilt = rebuildFromTokens([
      record("a", [1], [2]),
      record("e", [1, 2], []),
      record("b", [1, 2, 3], [4]),
    ]);
    expect(rebuilt).toMatchObject({ mask_sample: false, metrics: { empty_generation_calls: 1, n_calls: 3 } });
  });

  it("delivers nothing without a safe chain", () => {
    expect(rebuildFromTokens([])).toMatchObject({ output: [], mask_sample: true, error: expect.any(String) });
    expect(rebuildFromTokens([record("e", [1], [])])).toMatchObject({ output: [], mask_sample: true });
    const uneven = rebuildFromTokens([record("a", [1], [2], { generation_log_probs: [] })]);
    expect(uneven).toMatchObject({ output: [], mask_sample: true, error: expect.stringContaining("call a") });
  });

  it("adds the lists to their item, and creates a message for a call without items", () => {
    const items: ResponseOutputItem[] = [
      { type: "reasoning", id: "r", summary: [] },
      { type: "message", id: "m", content: [] },
    ];
    const [first, second] = rebuildFromTokens([
      record("a", [1], [2], { output_items: items, token_item_index: 0 }),
    ]).output;
    expect(first).toHaveProperty("prompt_token_ids", [1]);
    expect(second).not.toHaveProperty("prompt_token_ids");
    const bare = rebuildFromTokens(
      [record("a", [1], [2], { output_items: [], routed_experts: "x" })],
      () => "msg_1",
    );
    expect(bare.output).toEqual([
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [],
        prompt_token_ids: [1],
        generation_token_ids: [2],
        generation_log_probs: [-0.5],
        routed_experts: "x",
      },
    ]);
  });

  it("rebuilds long rollouts quickly", () => {
    const turns = 150;
    const records: TokenRecord[] = [];
    let tokens = Array.from({ length: 2000 }, (_, index) => index);
    for (let turn = 0; turn < turns; turn++) {
      const generation = Array.from({ length: 100 }, (_, index) => turn * 1000 + index);
      records.push(record(`call-${turn}`, tokens, generation));
      tokens = [...tokens, ...generation, 5];
    }
    expect(rebuildFromTokens(records.reverse())).toMatchObject({
      mask_sample: false,
      metrics: { chains: 1 },
    });
  });
});
