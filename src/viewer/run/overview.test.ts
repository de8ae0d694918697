import { expect, it } from "vitest";
import { distributionOf } from "./overview.ts";

const bars = (values: number[], options?: Parameters<typeof distributionOf>[1]) =>
  distributionOf(Float64Array.from(values), options)?.bins ?? [];

it("begins histograms at 0 only if the smallest value is near it", () => {
  expect(bars([9, 12, 21])[0]?.from).toBe(9);
  expect(bars([400, 420])[0]?.from).toBe(400);
  expect(bars([180, 1000, 3100])[0]?.from).toBe(0);
  expect(bars([-5, 3])[0]?.from).toBe(-5);
});

it("has the range of rewards as its axis, and no bar as wide as the chart for one number", () => {
  const rewards = bars([0.5, 0.6], { unit: true });
  expect([rewards[0]?.from, rewards.at(-1)?.to]).toEqual([0, 1]);
  const turns = bars([3, 3, 3], { whole: true });
  expect(turns.map(({ from, count }) => [from, count])).toEqual([
    [3, 3],
    [4, 0],
    [5, 0],
    [6, 0],
    [7, 0],
  ]);
});
