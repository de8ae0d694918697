import { expect, it } from "vitest";
import { seededNumbers } from "../../records/metrics/seeded-random.ts";
import { TaskNumberMap } from "./task-number-map.ts";

it("agrees with a Map for any indices in any order", () => {
  const random = seededNumbers(1);
  for (const spread of [10, 5_000, 2 ** 40]) {
    const [ours, map] = [new TaskNumberMap(), new Map<number, number>()];
    for (let step = 0; step < 20_000; step++) {
      const task = Math.floor(random() * spread) - (step % 7 === 0 ? 5 : 0);
      const value = Math.floor(random() * 2 ** 32) % (2 ** 32 - 1);
      expect(ours.get(task)).toBe(map.get(task));
      if (random() < 0.6) {
        ours.set(task, value);
        map.set(task, value);
      }
      if (step % 1_000 === 0) expect(ours.size).toBe(map.size);
    }
    for (const [task, value] of map) expect(ours.get(task)).toBe(value);
    expect(ours.size).toBe(map.size);
  }
});

it("finds an index that was far when it was added and is near later", () => {
  const ours = new TaskNumberMap();
  ours.set(5_000, 7);
  for (let task = 0; task < 10_000; task++) if (task !== 5_000) ours.set(task, 1);
  expect(ours.get(5_000)).toBe(7);
  ours.set(5_000, 8);
  expect([ours.get(5_000), ours.size]).toEqual([8, 10_000]);
});
