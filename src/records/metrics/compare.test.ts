import { describe, expect, it } from "vitest";
import { compareRuns, pairedTTest, permutationTest, signTest } from "./compare.ts";
import { CoverageCounter } from "./coverage.ts";

describe("tests of significance", () => {
  it("computes the exact sign test", () => {
    expect(signTest(0, 0)).toBe(1);
    expect(signTest(7, 7)).toBe(1);
    expect(signTest(1, 0)).toBe(1);
    for (const losses of [1, 2, 5, 12]) expect(signTest(losses + 1, losses)).toBe(1);
    expect(signTest(400, 601)).toBeCloseTo(signTest(400, 600), 8);
    expect(signTest(5, 0)).toBeCloseTo(2 / 32, 12);
    expect(signTest(3, 8)).toBeCloseTo(0.2265625, 12);
    expect(signTest(600, 500)).toBeCloseTo(0.0028195449914, 10);
  });

  it("computes the paired t-test", () => {
    expect(pairedTTest([1])).toBeNull();
    expect(pairedTTest([0, 0, 0])).toBe(1);
    expect(pairedTTest([1, 1, 1])).toBe(0);
    expect(pairedTTest([1, 2, 3, 4, 5])).toBeCloseTo(0.01323559956368269, 12);
  });

  it("tries all assignments of signs up to 20 differences, and random ones above", () => {
    expect(permutationTest([1, 1, 1, 0])).toEqual({ p: 0.25, exact: true, resamples: 8 });
    expect(permutationTest([])).toEqual({ p: 1, exact: true, resamples: 1 });
    expect(permutationTest([0.1, 0.2, -0.3])).toMatchObject({ p: 1 });
    const many = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? -1 : 1));
    const first = permutationTest(many, { seed: 3 });
    expect(first).toEqual(permutationTest(many, { seed: 3 }));
    expect(first.exact).toBe(false);
    expect(first.p).toBeGreaterThan(0.003);
    expect(first.p).toBeLessThan(0.03);
  });
});

describe("compareRuns", () => {
  const before = new Map([
    [0, [0, 0]],
    [1, [1, 1]],
    [2, [0, 1]],
    [3, [1]],
    [7, [1]],
  ]);
  const after = new Map([
    [3, [0]],
    [2, [1, 0]],
    [1, [1, 1]],
    [0, [1, 1]],
    [9, [0]],
  ]);

  it("pairs the common tasks and lists those that flipped", () => {
    expect(compareRuns(before, after)).toMatchObject({
      difference: { value: 0, tasks: 4 },
      wins: 1,
      losses: 1,
      ties: 2,
      sign_test_p: 1,
      flipped: [
        { task: 0, before: 0, after: 1, difference: 1 },
        { task: 3, before: 1, after: 0, difference: -1 },
      ],
    });
  });

  it("returns no p-value without common tasks", () => {
    const result = compareRuns(new Map([[0, [1]]]), new Map([[1, [1]]]));
    expect(result).toMatchObject({ wins: 0, losses: 0, ties: 0, paired_t_p: null, sign_test_p: 1 });
    expect(result.difference.value).toBeNaN();
  });
});

describe("CoverageCounter", () => {
  it("counts each rollout once, by its best state", () => {
    const key = (task: number, rest = {}) => ({ _ng_task_index: task, _ng_rollout_index: 0, ...rest });
    const counter = new CoverageCounter();
    for (let task = 0; task < 5; task++) counter.expect({ taskIndex: task, rolloutIndex: 0 });
    counter.fail(key(0));
    counter.fail(key(0));
    counter.fail(key(1));
    counter.complete(key(1));
    counter.complete(key(2, { mask_sample: true }));
    counter.complete(key(3, { mask_sample: false }));
    expect(counter.result()).toEqual({ expected: 5, ok: 2, masked: 1, failed: 1, missing: 1 });
  });
});
