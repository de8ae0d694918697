import { describe, expect, it } from "vitest";
import { binomial, drawBinomial } from "./binomial.ts";
import { seededNumbers } from "./seeded-random.ts";

const DRAWS = 40_000;

function draw(trials: number, chance: number): number[] {
  const random = seededNumbers(7);
  return Array.from({ length: DRAWS }, () => drawBinomial(trials, chance, random));
}

describe("drawBinomial", () => {
  it.each([
    [20, 0.1],
    [20, 0.9],
    [40, 0.5],
    [60, 0.3],
    [200, 0.06],
    [90, 0.75],
  ])("%i trials of %f follow the distribution", (trials, chance) => {
    const seen = new Map<number, number>();
    for (const successes of draw(trials, chance)) seen.set(successes, (seen.get(successes) ?? 0) + 1);
    let distance = 0;
    let cells = 0;
    for (let k = 0; k <= trials; k++) {
      const expected = DRAWS * Number(binomial(trials, k)) * chance ** k * (1 - chance) ** (trials - k);
      if (expected < 8) continue;
      cells++;
      distance += ((seen.get(k) ?? 0) - expected) ** 2 / expected;
    }
    // Chi-squared: five deviations above its mean happen once in a million.
    expect(distance).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
  });

  it.each([
    [1_000_000, 0.2],
    [5_000_000, 0.999],
  ])("%i trials of %f have the right mean and spread", (trials, chance) => {
    const draws = draw(trials, chance);
    const mean = draws.reduce((sum, value) => sum + value, 0) / DRAWS;
    const variance = draws.reduce((sum, value) => sum + (value - mean) ** 2, 0) / DRAWS;
    const expected = trials * chance * (1 - chance);
    expect(Math.abs(mean - trials * chance)).toBeLessThan(5 * Math.sqrt(expected / DRAWS));
    expect(variance / expected).toBeCloseTo(1, 1);
  });

  it("returns certain results without a draw", () => {
    const random = seededNumbers(1);
    expect([drawBinomial(0, 0.5, random), drawBinomial(9, 0, random), drawBinomial(9, 1, random)]).toEqual([
      0, 0, 9,
    ]);
  });
});
