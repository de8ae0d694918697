import { describe, expect, it } from "vitest";
import { permutationTest } from "./compare.ts";
import { seededNumbers } from "./seeded-random.ts";
import { holm, signFlipTest } from "./sign-flip.ts";

describe("the sign-flip test", () => {
  it("tries all signs of few differences", () => {
    expect(signFlipTest([1, 1, 1])).toBe(0.25);
    expect(signFlipTest([0, 0])).toBe(1);
    expect(signFlipTest([])).toBe(1);
  });

  it("agrees with the permutation test of compare", () => {
    const random = seededNumbers(5);
    for (const shift of [0, 0.1, 0.25]) {
      const differences = Array.from({ length: 60 }, () => random() - 0.5 + shift);
      const { p } = permutationTest(differences);
      // The draws end at fifty extreme ones, which leaves a relative error of one in seven.
      expect(Math.abs(signFlipTest(differences) - p)).toBeLessThan(0.25 * p + 0.01);
    }
  });

  it("gives p-values that survive a correction for thousands of tests", () => {
    const differences = Array.from({ length: 60 }, (_, task) => (task % 6 === 0 ? -0.5 : 1));
    const p = signFlipTest(differences);
    expect(p).toBeLessThan(1e-6);
    // All signs equal: the exact p-value is 2 / 2^n, and the bound reaches it.
    const equal = signFlipTest(Array.from({ length: 40 }, () => 0.5));
    expect(equal).toBeGreaterThanOrEqual(2 ** -39);
    expect(equal).toBeLessThan(2 ** -38);
  });
});

describe("Holm's correction", () => {
  it("multiplies by the number of tests that are left, and keeps the order", () => {
    expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
    expect(holm([0.9, 0.5])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });
});
