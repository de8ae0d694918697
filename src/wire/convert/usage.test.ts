import { describe, expect, it } from "vitest";
import { accumulateUsage, normalizeUsage, sumUsage, type Usage, usageFromChat } from "./usage.ts";

const usage = (input: number, output: number, cached: number | null, reasoning: number | null): Usage => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

describe("usageFromChat", () => {
  it("copies the total and reads details from all their names", () => {
    const base = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 9 };
    expect(usageFromChat({ ...base, cached_input_tokens: 1, reasoning_output_tokens: 2 })).toEqual({
      ...usage(3, 2, 1, 2),
      total_tokens: 9,
    });
    expect(usageFromChat(base)).toEqual({ ...usage(3, 2, null, null), total_tokens: 9 });
    expect(usageFromChat(null)).toBeNull();
  });

  it("counts invalid numbers as missing", () => {
    const details = { prompt_tokens_details: { cached_tokens: -1 }, cache_read_input_tokens: true };
    expect(usageFromChat({ prompt_tokens: 1, completion_tokens: 1.5, total_tokens: 3, ...details })).toEqual(
      usage(1, 2, null, null),
    );
    expect(usageFromChat({ completion_tokens: 1, total_tokens: 3 })).toEqual(usage(2, 1, null, null));
  });

  it("does not invent counts", () => {
    expect(usageFromChat({ prompt_tokens: 10 })).toBeNull();
    expect(usageFromChat({ total_tokens: 10 })).toBeNull();
    expect(usageFromChat({})).toBeNull();
  });
});

describe("accumulateUsage", () => {
  it("adds turns, skips turns without usage, and keeps unknown details unknown", () => {
    expect(accumulateUsage(null, undefined)).toBeNull();
    expect(accumulateUsage(null, usage(1, 2, 0, null))).toEqual(usage(1, 2, 0, null));
    const total = accumulateUsage(usage(1, 2, 0, null), usage(3, 4, 5, 6));
    expect(total).toEqual(usage(4, 6, 5, null));
    expect(accumulateUsage(total, null)).toBe(total);
    expect(accumulateUsage(total, usage(0, 0, null, 1))).toEqual(usage(4, 6, null, null));
  });

  it("sums lists, with zeros for an empty list", () => {
    expect(sumUsage([])).toEqual(usage(0, 0, 0, 0));
    expect(sumUsage([usage(1, 1, 1, 1), usage(2, 2, null, 2)])).toEqual(usage(3, 3, null, 3));
  });
});

describe("normalizeUsage", () => {
  it("reads the three APIs", () => {
    const responses = { ...usage(10, 4, 3, 2), total_tokens: 15 };
    expect(normalizeUsage(responses)).toEqual({
      tokens_in: 10,
      tokens_out: 4,
      tokens_reasoning: 2,
      tokens_total: 15,
      cached_tokens: 3,
      cache_creation_tokens: null,
      cache_hit: true,
    });
    expect(normalizeUsage({ prompt_tokens: 1, completion_tokens: 2 })).toMatchObject({
      tokens_total: 3,
      cached_tokens: null,
      cache_hit: null,
    });
    expect(normalizeUsage({ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 0 })).toMatchObject({
      tokens_in: 1,
      cached_tokens: 0,
      cache_hit: false,
    });
  });

  it("has nulls without a usage", () => {
    for (const value of [null, undefined, 5, {}]) {
      expect(Object.values(normalizeUsage(value)).every((count) => count === null)).toBe(true);
    }
  });
});

it("keeps other keys of the first turn", () => {
  const turn = {
    ...{ input_tokens: 1, output_tokens: 2, total_tokens: 3, extra: 5 },
    input_tokens_details: { cached_tokens: 1, audio: 2 },
    output_tokens_details: { reasoning_tokens: null },
  };
  const doubled = accumulateUsage(accumulateUsage(null, turn), { ...turn, extra: 9 } as Usage);
  expect(doubled).toMatchObject({
    total_tokens: 6,
    extra: 5,
    input_tokens_details: { cached_tokens: 2, audio: 2 },
  });
  expect(sumUsage([turn])).not.toHaveProperty("extra");
});

it("keeps the version of the policy at the start of the first turn and at the end of the last", () => {
  const turn = (start: number, end: number): Usage => ({
    ...{ input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
    ng_policy_version_start: start,
    ng_policy_version_end: end,
  });
  expect(sumUsage([turn(3, 3), turn(3, 4), turn(5, 5)])).toMatchObject({
    ng_policy_version_start: 3,
    ng_policy_version_end: 5,
  });
});
