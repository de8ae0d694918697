import { describe, expect, it } from "vitest";
import { mean, sampleDeviation } from "./descriptive.ts";
import { tQuantile, tTwoSided } from "./distributions.ts";
import { bootstrapMean, clusteredMean, meanEstimate, passEstimates } from "./intervals.ts";
import { RolloutTable } from "./rollout-table.ts";
import { rewardsByTask, runStatistics } from "./run-statistics.ts";
import { seededNumbers } from "./seeded-random.ts";

describe("Student's t", () => {
  it.each([
    [0.975, 1, 12.706204736174698],
    [0.975, 2, 4.302652729749462],
    [0.975, 5, 2.5705818356363146],
    [0.975, 10, 2.228138851986274],
    [0.975, 30, 2.0422724563012373],
    [0.975, 19999, 1.960082611089815],
    [0.975, 1e15, 1.959963984540054],
    [0.995, 4, 4.604094871349992],
    [0.3, 7, -0.5491096579],
    [0.5, 3, 0],
  ])("has the %f quantile with %d degrees of freedom at %f", (probability, freedom, expected) => {
    expect(tQuantile(probability, freedom)).toBeCloseTo(expected, 7);
  });

  it("computes two-sided p-values, including tiny ones", () => {
    expect(tTwoSided(2.228138851986274, 10)).toBeCloseTo(0.05, 12);
    expect(tTwoSided(-2.228138851986274, 10)).toBeCloseTo(0.05, 12);
    expect(tTwoSided(0, 10)).toBe(1);
    expect(tTwoSided(40, 19) / 8.307757199338434e-20).toBeCloseTo(1, 9);
    expect(tTwoSided(Number.POSITIVE_INFINITY, 3)).toBe(0);
  });

  it("has no quantile outside its domain", () => {
    expect([tQuantile(0, 3), tQuantile(1, 3), tQuantile(0.9, 0)]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });
});

describe("clusteredMean", () => {
  it("clips the interval to [0, 1] for rewards in that range", () => {
    const unit = clusteredMean([
      [1, 0, 0],
      [0, 0, 1],
      [1, 1, 0],
    ]);
    expect(unit.low).toBe(0);
    expect(unit.high).toBeLessThanOrEqual(1);
    expect(clusteredMean([[1], [0], [0.5]])).toMatchObject({ low: 0, high: 1 });
    expect(clusteredMean([[1], [-1], [0.5]]).low).toBeLessThan(-1);
  });

  it("equals the spread of task means when tasks have the same number of rollouts", () => {
    // Rewards up to 2, so that the interval is not clipped to [0, 1].
    const tasks = [
      [2, 2, 0],
      [0, 0, 0],
      [2, 0, 0],
      [2, 2, 2],
    ];
    const means = tasks.map((task) => mean(task));
    const estimate = clusteredMean(tasks);
    expect(estimate.value).toBeCloseTo(1, 12);
    expect(estimate.standard_error).toBeCloseTo(sampleDeviation(means) / 2, 12);
    expect((estimate.high ?? 0) - estimate.value).toBeCloseTo(
      tQuantile(0.975, 3) * (estimate.standard_error ?? 0),
      12,
    );
  });

  it("weighs rollouts, not tasks, when the numbers differ", () => {
    const estimate = clusteredMean([[1, 1, 1], [0], []]);
    expect(estimate).toMatchObject({ value: 0.75, tasks: 2 });
    expect(estimate.standard_error).toBeCloseTo(Math.sqrt(2 * (0.75 ** 2 + 0.75 ** 2)) / 4, 12);
  });

  it("has no interval for a single task", () => {
    expect(clusteredMean([[1, 0]])).toEqual({
      value: 0.5,
      standard_error: null,
      low: null,
      high: null,
      tasks: 1,
    });
    expect(meanEstimate([3])).toMatchObject({ value: 3, low: null });
  });

  it("covers the true mean as often as its level states", () => {
    const random = seededNumbers(7);
    let covered = 0;
    const runs = 400;
    for (let run = 0; run < runs; run++) {
      const tasks = Array.from({ length: 20 }, () => {
        const rate = random();
        return Array.from({ length: 4 }, () => Number(random() < rate));
      });
      const { low, high } = clusteredMean(tasks);
      if ((low ?? 1) <= 0.5 && (high ?? 0) >= 0.5) covered++;
    }
    expect(covered / runs).toBeGreaterThan(0.92);
    expect(covered / runs).toBeLessThan(0.98);
  });
});

describe("bootstrapMean", () => {
  const random = seededNumbers(1);
  const tasks = Array.from({ length: 200 }, () => [random(), random()]);

  it("depends only on the seed", () => {
    expect(bootstrapMean(tasks, { seed: 5 })).toEqual(bootstrapMean(tasks, { seed: 5 }));
    expect(bootstrapMean(tasks, { seed: 5 }).low).not.toBe(bootstrapMean(tasks, { seed: 6 }).low);
  });

  it("agrees with Student's interval on well-behaved data", () => {
    const student = clusteredMean(tasks);
    const bootstrap = bootstrapMean(tasks);
    expect(bootstrap.value).toBeCloseTo(student.value, 12);
    expect(bootstrap.low).toBeCloseTo(student.low ?? 0, 2);
    expect(bootstrap.high).toBeCloseTo(student.high ?? 0, 2);
    expect(bootstrapMean([[1]])).toMatchObject({ value: 1, low: null });
  });

  it("gives the same interval for equal and for nearly equal tasks", () => {
    const alike = Array.from({ length: 3_000 }, (_, task) => [
      task % 3 === 0 ? 1 : 0,
      task % 7 === 0 ? 1 : 0,
      ...(task % 5 ? [] : [1]),
    ]);
    const different = alike.map((rewards, task) => rewards.map((reward) => reward + task * 1e-9));
    const [a, b] = [bootstrapMean(alike), bootstrapMean(different)];
    expect(a.value).toBeCloseTo(b.value, 5);
    const width = (b.high ?? 0) - (b.low ?? 0);
    expect(Math.abs((a.low ?? 0) - (b.low ?? 0))).toBeLessThan(0.12 * width);
    expect(Math.abs((a.high ?? 0) - (b.high ?? 0))).toBeLessThan(0.12 * width);
    expect((a.standard_error ?? 0) / (b.standard_error ?? 1)).toBeCloseTo(1, 1);
  });
});

describe("passEstimates", () => {
  it("estimates the probability that any or all of k rollouts succeed", () => {
    const [one, two] = passEstimates([
      [1, 0, 0, 1],
      [0, 0, 0, 0],
    ]);
    expect(one).toMatchObject({ k: 1, pass_at_k: { value: 0.25 }, pass_hat_k: { value: 0.25 } });
    expect(two?.pass_at_k.value).toBeCloseTo((5 / 6 + 0) / 2, 12);
    expect(two?.pass_hat_k.value).toBeCloseTo(1 / 6 / 2, 12);
    expect(two?.pass_at_k.low).toBe(0);
    expect(two?.pass_at_k.high).toBe(1);
  });

  it("uses tasks with at least k rollouts, and accepts any threshold", () => {
    const estimates = passEstimates([[0.5, 0.2], [0.9]], { ks: [1, 2, 3], threshold: 0.5 });
    expect(estimates.map(({ k, pass_at_k }) => [k, pass_at_k.tasks])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(passEstimates([[1, 1, 1]]).map(({ k }) => k)).toEqual([1, 2, 3]);
  });
});

describe("runStatistics", () => {
  it("reads rewards of any numeric type and counts them", () => {
    const table = new RolloutTable();
    expect(runStatistics(table)).toBeUndefined();
    for (const [task, rollout, reward] of [
      [0, 0, true],
      [0, 1, 0],
      [1, 0, null],
      [2, 0, 1],
    ] as const) {
      table.add({ _ng_task_index: task, _ng_rollout_index: rollout, reward });
    }
    expect([...rewardsByTask(table)]).toEqual([
      [0, [1, 0]],
      [2, [1]],
    ]);
    expect(runStatistics(table)).toMatchObject({
      rollouts: 3,
      tasks: 2,
      reward: { value: 2 / 3 },
      pass_threshold: 1,
    });
  });
});
