import { expect, it } from "vitest";
import { seededNumbers } from "../metrics/seeded-random.ts";
import { type BoardRun, boardOf } from "./board.ts";

it("has a false discovery in at most 5 % of 1,000 boards without a true difference", () => {
  const random = seededNumbers(36);
  let withDiscovery = 0;
  for (let board = 0; board < 1_000; board++) {
    if (boardOf(runsWithoutDifference(random)).tests.some(({ significant }) => significant)) withDiscovery++;
  }
  expect(withDiscovery).toBeLessThanOrEqual(50);
  // The correction is not so strict that nothing would ever be found.
  expect(withDiscovery).toBeGreaterThan(0);
});

/** Two runs of three models in three environments. The chance of success belongs to the task, so rollouts of one task are not independent. */
function runsWithoutDifference(random: () => number): BoardRun[] {
  return ["one", "two", "three"].flatMap((environment) => {
    const chances = Array.from({ length: 25 }, () => random());
    return ["a", "b", "c"].flatMap((model) =>
      ["2026-01-01", "2026-01-02"].map((when) => {
        const tasks = chances.map((chance, index) => ({
          index,
          content: `task ${index}`,
          rewards: [0, 1].map(() => (random() < chance ? 1 : 0)),
        }));
        const id = `${environment}-${model}-${when}`;
        return { id, path: id, environment, model, when, tasks, coverage: null, cost: null };
      }),
    );
  });
}
