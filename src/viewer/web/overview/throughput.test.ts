import { describe, expect, it } from "vitest";
import { meanRate, ratesOver } from "./throughput.ts";

/** A run that completes one rollout every 30 s, sampled every 200 s at first and every 2 s at the end. */
function steadyRun(alreadyDone = 0): [number, number, number][] {
  const times = [
    ...Array.from({ length: 200 }, (_, n) => n * 200),
    ...Array.from({ length: 100 }, (_, n) => 39_802 + n * 2),
  ];
  return times.map((seconds) => [seconds, alreadyDone + Math.floor(seconds / 30), 4]);
}

describe("throughput of a run", () => {
  it("is constant for a steady run with thinned samples", () => {
    const rates = ratesOver(steadyRun());
    expect(rates).toHaveLength(60);
    for (const { y } of rates) expect(Math.abs(30 * y - 1)).toBeLessThan(0.05);
    const widths = rates.slice(1).map(({ x }, place) => x - (rates[place]?.x ?? 0));
    expect(Math.max(...widths) - Math.min(...widths)).toBeLessThan(0.001);
    expect(rates.at(-1)?.x).toBe(40_000);
  });

  it("follows a run that becomes slower", () => {
    const rates = ratesOver(
      Array.from({ length: 101 }, (_, n) => [n * 2, n < 50 ? n * 10 : 500 + (n - 50) * 2, 1]),
    );
    expect([rates[0]?.y, rates.at(-1)?.y]).toEqual([expect.closeTo(5), expect.closeTo(1)]);
  });

  it("omits windows that are too short for a rate", () => {
    expect(ratesOver([])).toEqual([]);
    expect(
      ratesOver([
        [0, 0, 4],
        [1.1, 9, 0],
      ]),
    ).toEqual([]);
    expect(
      ratesOver([
        [1.1, 0, 4],
        [1.1, 90, 0],
      ]),
    ).toEqual([]);
    // Two samples say nothing of what is between them.
    expect(
      ratesOver([
        [0, 0, 4],
        [10, 90, 0],
      ]),
    ).toEqual([{ x: 10, y: 9 }]);
  });

  it("counts only rollouts of the session", () => {
    expect(meanRate(steadyRun(1000), 40_000)).toBeCloseTo(1 / 30);
    expect([meanRate([[0, 0, 1]], null), meanRate([], 5)]).toEqual([null, null]);
  });
});
