import { describe, expect, it } from "vitest";
import { clusteredMean } from "../../records/metrics/intervals.ts";
import { seededNumbers } from "../../records/metrics/seeded-random.ts";
import { RunningClusteredMean } from "./running-mean.ts";

describe("RunningClusteredMean", () => {
  it.each([
    [0, 1],
    [1e6, 1],
    [-3, 0.001],
  ])("equals the clustered mean after every reward (around %d, spread %d)", (origin, spread) => {
    const random = seededNumbers(7);
    const tasks = new Map<number, number[]>();
    const running = new RunningClusteredMean();
    for (let step = 0; step < 300; step++) {
      const task = Math.floor(random() * 25) * 1_000_003;
      const reward = origin + spread * (random() < 0.3 + (task % 5) / 10 ? 1 : random());
      tasks.set(task, [...(tasks.get(task) ?? []), reward]);
      running.add(task, reward);
      const { value, low, high } = clusteredMean([...tasks.values()]);
      expect(running.mean).toBeCloseTo(value, 6);
      const interval = running.interval;
      if (low === null || high === null) expect(interval).toBeNull();
      else {
        expect(interval?.[0]).toBeCloseTo(low, 6);
        expect(interval?.[1]).toBeCloseTo(high, 6);
      }
    }
  });

  it("has a wider interval for equal rollouts of a task than for separate tasks", () => {
    const [repeats, alone] = [new RunningClusteredMean(), new RunningClusteredMean()];
    for (let place = 0; place < 40; place++) {
      const reward = Math.floor(place / 4) % 2;
      repeats.add(Math.floor(place / 4), reward);
      alone.add(place, reward);
    }
    expect(repeats.mean).toBe(alone.mean);
    const width = ([low, high]: readonly [number, number] = [0, 0]) => high - low;
    expect(width(repeats.interval ?? undefined)).toBeGreaterThan(1.9 * width(alone.interval ?? undefined));
  });

  it("has no mean without rewards, and no interval with too few or too many tasks", () => {
    const running = new RunningClusteredMean(2);
    expect(running.mean).toBeNull();
    running.add(0, 1);
    running.add(0, 0);
    expect(running.interval).toBeNull();
    running.add(1, 1);
    expect(running.interval).not.toBeNull();
    running.add(2, 1);
    expect(running.mean).toBe(0.75);
    expect(running.interval).toBeNull();
  });
});
