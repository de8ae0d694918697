import { describe, expect, it } from "vitest";
import { allInPart, binomial, ratio } from "./binomial.ts";
import { averageSampleDeviations, highestKMetrics, passMajorityMetrics, subsetMetrics } from "./pass-at-k.ts";

const rewards = (...values: number[]) => values.map((reward) => ({ reward }));

describe("binomial", () => {
  it("is exact far beyond doubles", () => {
    expect(binomial(5, 2)).toBe(10n);
    expect(binomial(3, 4)).toBe(0n);
    expect(binomial(100, 50)).toBe(100891344545564193334812497256n);
    expect(ratio(binomial(3000, 1500), binomial(3001, 1500))).toBeCloseTo(1501 / 3001, 12);
    expect(allInPart(1, 4, 2)).toBe(0);
    expect(allInPart(2, 4, 2)).toBeCloseTo(1 / 6, 15);
    const exact = ratio(binomial(5000, 300), binomial(6000, 300));
    expect(allInPart(5000, 6000, 300) / exact).toBeCloseTo(1, 12);
    expect(allInPart(5000, 6000, 5000)).toBe(0);
  });
});

describe("passMajorityMetrics", () => {
  it("uses all rollouts for pass@k and the first k for averages", () => {
    const { metrics, maxK, scoreNames } = passMajorityMetrics([rewards(1, 0, 0, 1), rewards(0, 0, 0, 1)]);
    expect(metrics).toMatchObject({
      "pass@1/accuracy": 37.5,
      "pass@1[avg-of-1]/accuracy": 50,
      "pass@4/accuracy": 100,
      per_sample_aggregate: { accuracy: [50, 0, 0, 100] },
    });
    expect([maxK, scoreNames]).toEqual([4, ["accuracy"]]);
  });

  it("votes by (answer, score) pairs and averages ties", () => {
    const task = [
      { reward: 1, answer: 1 },
      { reward: 1, answer: true },
      { reward: 0, answer: "1" },
      { reward: 0, answer: "1" },
      { reward: 1, answer: null },
    ];
    const { metrics } = passMajorityMetrics([task], { answerField: "answer" });
    expect(metrics["majority@2/accuracy"]).toBe(100);
    expect(metrics["majority@4/accuracy"]).toBe(50);
    expect(metrics["majority@5/accuracy"]).toBe(50);
    expect(metrics["pass@1[avg-of-5]/no_answer"]).toBeCloseTo(20);
  });

  it("uses the best of the first k for fractional scores", () => {
    const { metrics } = passMajorityMetrics([rewards(0.2, 0.9, 0.4)]);
    expect([1, 2, 3].map((k) => metrics[`pass@${k}/accuracy`])).toEqual([20, 90, 90]);
  });

  it("handles hundreds of repeats", () => {
    const many = Array.from({ length: 50 }, (_, task) =>
      rewards(...Array.from({ length: 256 }, (_, i) => Number(i % 7 === task % 7))),
    );
    const { metrics } = passMajorityMetrics(many);
    expect(metrics["pass@256/accuracy"]).toBe(100);
    expect(metrics["pass@1/accuracy"]).toBeCloseTo(100 / 7, 0);
  });

  it("rejects rows without a reward and answers that are not scalars", () => {
    expect(() => passMajorityMetrics([[{ points: 1 }]])).toThrow(/no numeric 'reward'/);
    expect(() => passMajorityMetrics([[{ reward: 1, answer: {} }]], { answerField: "answer" })).toThrow(
      /voted on/,
    );
  });
});

describe("helpers of pass@k", () => {
  it("averages deviations over tasks with at least two scores", () => {
    expect(averageSampleDeviations([rewards(1, 0), rewards(1)])).toEqual({
      "pass@1[avg-of-2]/accuracy/avg_sample_std_dev": Math.SQRT1_2,
    });
  });

  it("splits tasks by a field of their first rollout", () => {
    const metrics = subsetMetrics(
      [[{ reward: 1, level: "a" }], [{ reward: 0, level: "" }], [{ reward: 0, level: 2 }]],
      "level",
    );
    expect(Object.keys(metrics).sort()).toEqual([
      "2/pass@1/accuracy",
      "2/pass@1[avg-of-1]/accuracy",
      "a/pass@1/accuracy",
      "a/pass@1[avg-of-1]/accuracy",
    ]);
  });

  it("selects the largest k after filtering names", () => {
    const metrics = {
      "pass@2/a": 1,
      "pass@10/a": 2,
      "pass@10/b": 3,
      "pass@16/b": 4,
      "pass@x/a": 5,
      "pass@10/a/std_err_across_runs": 6,
    };
    expect(highestKMetrics(metrics, "pass@{k}")).toEqual({ "pass@16/b": 4 });
    expect(highestKMetrics(metrics, "pass@{k}", { scoreNames: ["a"] })).toEqual({ "pass@10/a": 2 });
    expect(highestKMetrics(metrics, "pass@{k}", { excludeNames: ["b"] })).toEqual({ "pass@10/a": 2 });
    expect(highestKMetrics(metrics, "majority@{k}")).toEqual({});
  });
});

describe("values other than ordinary numbers", () => {
  it("keep the best of k as Python's max does", () => {
    const tasks = [[{ reward: 0.5 }, { reward: Number.NaN }, { reward: 0.7 }]];
    expect(passMajorityMetrics(tasks).metrics).toMatchObject({
      "pass@2/accuracy": 50,
      "pass@3/accuracy": 70,
      "pass@1[avg-of-3]/accuracy": Number.NaN,
    });
  });

  it.each([null, "1", [1]])("reject %j as a score", (score) => {
    const scores = () => ({ s: score as unknown as number });
    expect(() => passMajorityMetrics([[{}]], { scores })).toThrow("not a number");
  });

  it("group by value: 1 and true are one subset, with the name of the first", () => {
    const tasks = [[{ reward: 1, level: 1 }], [{ reward: 0, level: true }]];
    expect(subsetMetrics(tasks, "level")).toMatchObject({ "1/pass@1/accuracy": 50 });
    expect(() => subsetMetrics([[{ reward: 1, level: ["x"] }]], "level")).toThrow("grouped by");
  });
});
