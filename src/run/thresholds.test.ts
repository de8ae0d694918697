import { describe, expect, it } from "vitest";
import type { RunSummary } from "./summarize.ts";
import { missedThresholds } from "./thresholds.ts";

const summary = (reward: number | undefined, ok = 8) =>
  ({
    agents: [
      { agent: "quiz_agent", statistics: reward === undefined ? undefined : { reward: { value: reward } } },
    ],
    coverage: { expected: 10, ok, masked: 0, failed: 10 - ok, missing: 0 },
  }) as unknown as RunSummary;

describe("missedThresholds", () => {
  it("accepts a run that reaches all thresholds", () => {
    expect(missedThresholds(summary(0.5), { failUnder: 0.5, minCoverage: 0.8 })).toEqual([]);
    expect(missedThresholds(summary(0), {})).toEqual([]);
  });

  it("names the missed thresholds", () => {
    expect(missedThresholds(summary(0.4, 7), { failUnder: 0.5, minCoverage: 0.8 })).toEqual([
      "7 of 10 rollouts were scored, less than min_coverage 0.8.",
      "The mean reward of quiz_agent is 0.4000, less than fail_under 0.5.",
    ]);
  });

  it("never accepts an unknown reward", () => {
    expect(missedThresholds(summary(undefined), { failUnder: -1 })).toHaveLength(1);
    expect(missedThresholds(summary(Number.NaN), { failUnder: 0 })).toHaveLength(1);
    expect(missedThresholds(undefined, { failUnder: 0, minCoverage: 0 })).toHaveLength(2);
  });
});
