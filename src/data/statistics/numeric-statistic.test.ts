import { describe, expect, it } from "vitest";
import { NumericStatistic } from "./numeric-statistic.ts";

function statisticOf(...values: number[]): NumericStatistic {
  const statistic = new NumericStatistic();
  for (const value of values) statistic.observe(value);
  return statistic;
}

describe("NumericStatistic", () => {
  it("returns zeros without values", () => {
    expect(statisticOf().summary()).toEqual({ total: 0, average: 0, min: 0, max: 0, standardDeviation: 0 });
  });

  it("computes the sample deviation, and 0 for one value", () => {
    expect(statisticOf(4).summary().standardDeviation).toBe(0);
    expect(statisticOf(1, 2.5, 0, 4).summary()).toEqual({
      total: 4,
      average: 1.88,
      min: 0,
      max: 4,
      standardDeviation: 1.75,
    });
  });

  it("keeps three decimals below magnitude 1 and two above", () => {
    expect(statisticOf(0.0625).summary().average).toBe(0.062);
    expect(statisticOf(0.9996).summary().average).toBe(1);
    expect(statisticOf(-1.0049).summary().average).toBe(-1);
    expect(statisticOf(-0.12345).summary().average).toBe(-0.123);
  });

  it("propagates NaN to the mean but not to the bounds", () => {
    const summary = statisticOf(Number.NaN, 1.5).summary();
    expect(summary).toMatchObject({ total: 2, min: 1.5, max: 1.5 });
    expect(summary.average).toBeNaN();
    expect(summary.standardDeviation).toBeNaN();
  });

  it("merges two statistics like one of all values", () => {
    const merged = statisticOf(3, 5, 8);
    merged.merge(statisticOf());
    merged.merge(statisticOf(-2, 0.5));
    expect(merged.summary()).toEqual(statisticOf(3, 5, 8, -2, 0.5).summary());
    const empty = statisticOf();
    empty.merge(statisticOf(7, 9));
    expect(empty.summary()).toEqual(statisticOf(7, 9).summary());
  });

  it("rounds like merging and not like observing", () => {
    const values = [23.3125, 20.6875, 4.625, 3.875];
    const merged = statisticOf();
    for (const value of values) merged.mergeValue(value);
    expect(merged.summary().average).toBe(13.13);
    expect(statisticOf(...values).summary().average).toBe(13.12);
    const twoSteps = statisticOf();
    for (const value of values) twoSteps.merge(statisticOf(value));
    expect(twoSteps.summary()).toEqual(merged.summary());
  });

  it("merges values that are not finite like separate statistics", () => {
    const merged = statisticOf();
    for (const value of [1, Number.POSITIVE_INFINITY]) merged.mergeValue(value);
    expect(merged.summary()).toMatchObject({ total: 2, min: 1, max: Number.POSITIVE_INFINITY });
    expect(merged.summary().standardDeviation).toBeNaN();
  });
});
